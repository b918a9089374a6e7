"""The engine of Clean Room: everything below the screens. Nothing here imports Textual."""

__version__ = "0.1.0"
