"""The version of this software, which every run notes."""

__version__ = "1.0.0"
