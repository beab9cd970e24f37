"""Plant mistakes as people make them: each operator walks a module and gives every fault it could plant.

They share nothing, neither code nor a table, with the repair templates of `harness.repair.search`: a policy that
repairs cases made here is not scored on the inverse of its own rules.
"""

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from misstep.harness.repair.build.operators import expressions, statements
from misstep.harness.repair.build.syntax import Fault, Module, Site


class Operator(Struct, frozen=True):
    """A kind of mistake: how a person asks for its repair (`{function}` is where it is), and where it can be made."""

    request: str
    sites: Callable[[Module], Iterator[Site]]

    def faults(self, name: str, module: Module) -> Iterator[Fault]:
        """Give every fault of this kind that a module can have."""
        for site in self.sites(module):
            function = module.function_name(site.node)
            place = f"`{function}`" if function else f"`{module.path}`"
            request = (site.request or self.request).replace("{function}", place)
            yield Fault(name, module.path, function, site.node.start_point.row + 1, {module.path: site.edits}, request)


OPERATORS = {
    "wrong_boundary": Operator(
        "Correct {function}: a comparison in {function} treats its boundary wrongly.",
        partial(expressions.other_operator, table=expressions.BOUNDARY),
    ),
    "wrong_comparison": Operator(
        "Correct {function}: a comparison in {function} is the wrong way round.",
        partial(expressions.other_operator, table=expressions.COMPARISON),
    ),
    "wrong_arithmetic": Operator(
        "Correct {function}: a calculation in {function} uses the wrong operator.",
        partial(expressions.other_operator, table=expressions.ARITHMETIC),
    ),
    "wrong_connective": Operator(
        "Correct {function}: two conditions in {function} are joined wrongly.",
        partial(expressions.other_operator, table=expressions.CONNECTIVE),
    ),
    "off_by_one": Operator("Correct {function}: a number in it is off by one.", expressions.off_by_one),
    "inverted_condition": Operator(
        "Correct {function}: a condition in it is inverted.", expressions.inverted_condition
    ),
    "forgotten_condition": Operator(
        "Correct {function}: one of the conditions that it has to check is missing.", expressions.forgotten_condition
    ),
    "swapped_arguments": Operator(
        "Correct {function}: a call in it passes its arguments in the wrong order.", expressions.swapped_arguments
    ),
    "dropped_argument": Operator("Correct {function}: a call in it lacks an argument.", expressions.dropped_argument),
    "wrong_variable": Operator(
        "Correct {function}: it uses the wrong variable in one place.", expressions.wrong_variable
    ),
    "wrong_attribute": Operator(
        "Correct {function}: it uses the wrong attribute or method of an object.", expressions.wrong_attribute
    ),
    "wrong_key": Operator("Correct {function}: it uses the wrong key or name of something.", expressions.wrong_key),
    "wrong_default": Operator(
        "Correct {function}: a parameter of it has the wrong default.", expressions.wrong_default
    ),
    "changed_signature": Operator(
        "Correct {function}: its parameters are not in the order in which its callers pass them.",
        expressions.changed_signature,
    ),
    "incomplete_rename": Operator("", expressions.incomplete_rename),
    "missing_guard": Operator(
        "Correct {function}: it lacks a check that has to come before the rest.", statements.missing_guard
    ),
    "missing_branch": Operator("Correct {function}: one of its branches is missing.", statements.missing_branch),
    "copied_branch": Operator(
        "Correct {function}: one of its branches does what another is for.", statements.copied_branch
    ),
    "missing_return": Operator(
        "Correct {function}: it does not return what it has computed.", statements.missing_return
    ),
    "early_return": Operator("Correct {function}: it returns too early.", statements.early_return),
    "swapped_statements": Operator(
        "Correct {function}: two of its steps are in the wrong order.", statements.swapped_statements
    ),
    "lost_update": Operator("Correct {function}: one of its steps is missing.", statements.lost_update),
    "removed_error_handling": Operator(
        "Correct {function}: it does not handle an error that can occur in it.", statements.removed_error_handling
    ),
    "unwritten_body": Operator("Write the body of {function}, which is not implemented.", statements.unwritten_body),
    "unfinished_body": Operator(
        "Finish {function}: the second half of what it has to do is missing.", statements.unfinished_body
    ),
    "copied_body": Operator("Correct {function}: it does what its neighbour is for.", statements.copied_body),
    "removed_feature": Operator("", statements.removed_feature),
}
"""Name → operator. A site of an operator without a request brings its own."""
