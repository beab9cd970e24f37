"""Search over a workspace's code: SQLite's full text for strings, tree-sitter for classes and methods."""

from misstep_harness.agent.code_index.index import CodeIndex, Hit
from misstep_harness.agent.code_index.symbols import Symbol

__all__ = ["CodeIndex", "Hit", "Symbol"]
