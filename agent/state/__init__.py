"""The state of a run, folded from its events: what the panes, the reports and the history read."""
