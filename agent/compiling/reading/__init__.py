"""What a compiler's or linker's output says: text or structured formats to diagnostics, diagnostics to symptoms."""
