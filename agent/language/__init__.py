"""What every language has in common: symbols, positions in text, limits of nesting."""
