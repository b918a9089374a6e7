"""Errors that small models make in C again and again, set right without asking: one file a kind."""
