"""Earlier runs: the list, replaying one, deciding on its change."""
