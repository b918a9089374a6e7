"""Slips that small models make in Python again and again, set right by facts alone."""
