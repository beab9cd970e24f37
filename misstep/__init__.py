"""The way in: one file a command."""

__version__ = "0.1.0"
