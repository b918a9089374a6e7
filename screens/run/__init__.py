"""The run screen: one session, live or replayed, and what a person can do about it."""
