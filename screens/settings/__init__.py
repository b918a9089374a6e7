"""The settings: a form made from the configuration schema."""
