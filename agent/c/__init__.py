"""C: its text, its preprocessor, its declarations and symbols. Index, coding and compiling stand on this package."""
