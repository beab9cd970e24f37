"""Plant mistakes as people make them: each operator walks a module and gives every fault it could plant.

They share nothing, neither code nor a table, with the repair templates of `harness.repair.search`: a policy that
repairs cases made here is not scored on the inverse of its own rules.
"""

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from misstep_harness.repair.build.operators import expressions, statements
from misstep_harness.repair.build.syntax import Fault, Module, Site


class Operator(Struct, frozen=True):
    """A kind of mistake: what a person says of it (`{function}` is where it is), and where it can be made."""

    fault: str
    sites: Callable[[Module], Iterator[Site]]

    def faults(self, name: str, module: Module) -> Iterator[Fault]:
        """Give every fault of this kind that a module can have."""
        for site in self.sites(module):
            function = module.function_name(site.node)
            place = f"`{function}`" if function else f"`{module.path}`"
            request = (site.request or f"Correct {{function}}: {self.fault}").replace("{function}", place)
            yield Fault(name, module.path, function, site.node.start_point.row + 1, {module.path: site.edits}, request)


_SIGNS = {
    "wrong_boundary": (expressions.BOUNDARY, "a comparison in {function} treats its boundary wrongly."),
    "wrong_comparison": (expressions.COMPARISON, "a comparison in {function} is the wrong way round."),
    "wrong_arithmetic": (expressions.ARITHMETIC, "a calculation in {function} uses the wrong operator."),
    "wrong_connective": (expressions.CONNECTIVE, "two conditions in {function} are joined wrongly."),
}
OPERATORS = {
    **{
        name: Operator(fault, partial(expressions.other_operator, table=table))
        for name, (table, fault) in _SIGNS.items()
    },
    "off_by_one": Operator("a number in it is off by one.", expressions.off_by_one),
    "inverted_condition": Operator("a condition in it is inverted.", expressions.inverted_condition),
    "forgotten_condition": Operator(
        "one of the conditions that it has to check is missing.", expressions.forgotten_condition
    ),
    "swapped_arguments": Operator(
        "a call in it passes its arguments in the wrong order.", expressions.swapped_arguments
    ),
    "dropped_argument": Operator("a call in it lacks an argument.", expressions.dropped_argument),
    "wrong_variable": Operator("it uses the wrong variable in one place.", expressions.wrong_variable),
    "wrong_attribute": Operator("it uses the wrong attribute or method of an object.", expressions.wrong_attribute),
    "wrong_key": Operator("it uses the wrong key or name of something.", expressions.wrong_key),
    "wrong_default": Operator("a parameter of it has the wrong default.", expressions.wrong_default),
    "changed_signature": Operator(
        "its parameters are not in the order in which its callers pass them.", expressions.changed_signature
    ),
    "incomplete_rename": Operator("", expressions.incomplete_rename),
    "missing_guard": Operator("it lacks a check that has to come before the rest.", statements.missing_guard),
    "missing_branch": Operator("one of its branches is missing.", statements.missing_branch),
    "copied_branch": Operator("one of its branches does what another is for.", statements.copied_branch),
    "missing_return": Operator("it does not return what it has computed.", statements.missing_return),
    "early_return": Operator("it returns too early.", statements.early_return),
    "swapped_statements": Operator("two of its steps are in the wrong order.", statements.swapped_statements),
    "lost_update": Operator("one of its steps is missing.", statements.lost_update),
    "removed_error_handling": Operator(
        "it does not handle an error that can occur in it.", statements.removed_error_handling
    ),
    "unwritten_body": Operator("", statements.unwritten_body),
    "unfinished_body": Operator("", statements.unfinished_body),
    "copied_body": Operator("it does what its neighbour is for.", statements.copied_body),
    "removed_feature": Operator("", statements.removed_feature),
}
"""Name → operator. Sites of an operator without a sentence bring their own requests."""
