"""What a task asks for, read off its words once and handed to every phase."""
