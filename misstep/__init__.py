"""The way in: one file a command."""

from harness.version import __version__

__all__ = ["__version__"]
