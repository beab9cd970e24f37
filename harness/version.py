"""The version of this software, which every run notes."""

__version__ = "0.1.0"
