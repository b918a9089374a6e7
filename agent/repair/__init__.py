"""Repair by evidence and search: where the fault is, which small edit mends it, and whether that edit is the right one."""
