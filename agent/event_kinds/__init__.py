"""The kinds of events, by the phase they tell of. Import them from ``agent.events``."""
