"""Operators that plant mistakes as people make them: each walks a module and gives every fault it could plant.

What an operator changes is layout-preserving and behaves differently as far as a syntax tree can tell; whether a test
notices is found out by running them. They share nothing, neither code nor a table, with the repair templates of
`harness.repair.search`: a policy that repairs cases made here is not scored on the inverse of its own rules.
"""

from collections.abc import Callable, Iterator

from misstep.harness.repair.build.operators import bodies, expressions, names, statements
from misstep.harness.repair.build.syntax import Fault, Module

Operator = Callable[[Module], Iterator[Fault]]

OPERATORS: dict[str, Operator] = {
    "wrong_boundary": expressions.wrong_boundary,
    "wrong_comparison": expressions.wrong_comparison,
    "wrong_arithmetic": expressions.wrong_arithmetic,
    "wrong_connective": expressions.wrong_connective,
    "off_by_one": expressions.off_by_one,
    "inverted_condition": expressions.inverted_condition,
    "forgotten_condition": expressions.forgotten_condition,
    "swapped_arguments": expressions.swapped_arguments,
    "dropped_argument": expressions.dropped_argument,
    "missing_await": expressions.missing_await,
    "wrong_variable": names.wrong_variable,
    "wrong_attribute": names.wrong_attribute,
    "wrong_key": names.wrong_key,
    "wrong_default": names.wrong_default,
    "changed_signature": names.changed_signature,
    "incomplete_rename": names.incomplete_rename,
    "missing_guard": statements.missing_guard,
    "missing_branch": statements.missing_branch,
    "copied_branch": statements.copied_branch,
    "missing_return": statements.missing_return,
    "early_return": statements.early_return,
    "swapped_statements": statements.swapped_statements,
    "lost_update": statements.lost_update,
    "removed_error_handling": statements.removed_error_handling,
    "unwritten_body": bodies.unwritten_body,
    "unfinished_body": bodies.unfinished_body,
    "copied_body": bodies.copied_body,
    "removed_feature": bodies.removed_feature,
}
"""Name → operator."""
