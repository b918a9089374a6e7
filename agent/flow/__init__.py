"""How the phases of a run hang together: what one hands to the next. ``agent/run.py`` is the table of contents."""
