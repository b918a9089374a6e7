"""Trees of C source: the grammar, and what keeps it from reading a file."""
