"""Carry out the 15 commands of table I, by its names and arguments; whatever goes wrong is an observation."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Generic, TypeVar

from msgspec import Struct

from misstep_harness.agent.actions import Action, Observation
from misstep_harness.agent.environment import Environment
from misstep_harness.registry import Registry

Place = TypeVar("Place", contravariant=True)
TOOLS: "Registry[Tool[Environment]]" = Registry(
    "misstep.agent_tools",
    {
        "exit": "misstep_harness.agent.tools.repairing:EXIT",
        "get_diff_details": "misstep_harness.agent.tools.repairing:GET_DIFF_DETAILS",
        "get_task_details": "misstep_harness.agent.tools.repairing:GET_TASK_DETAILS",
        "read_directory": "misstep_harness.agent.tools.search:READ_DIRECTORY",
        "read_file": "misstep_harness.agent.tools.search:READ_FILE",
        "find_file": "misstep_harness.agent.tools.search:FIND_FILE",
        "go_to_line": "misstep_harness.agent.tools.search:GO_TO_LINE",
        "search_code": "misstep_harness.agent.tools.search:SEARCH_CODE",
        "search_code_in_file": "misstep_harness.agent.tools.search:SEARCH_CODE_IN_FILE",
        "search_class": "misstep_harness.agent.tools.search:SEARCH_CLASS",
        "search_method": "misstep_harness.agent.tools.search:SEARCH_METHOD",
        "search_method_in_file": "misstep_harness.agent.tools.search:SEARCH_METHOD_IN_FILE",
        "search_method_in_class": "misstep_harness.agent.tools.search:SEARCH_METHOD_IN_CLASS",
        "run_tests": "misstep_harness.agent.tools.repairing:RUN_TESTS",
        "edit": "misstep_harness.agent.tools.repairing:EDIT",
    },
)
"""Name → dotted path, in the order of the paper's table; entry points in the group add to it."""


class Tool(Struct, Generic[Place], frozen=True):
    """One command: its purpose as a sentence, its arguments, all of them required, and what it does."""

    name: str
    purpose: str
    parameters: Mapping[str, str]
    run: Callable[[Mapping[str, str], Place], Awaitable[Observation]]
    optional: Mapping[str, str] = {}

    @property
    def usage(self) -> str:
        """Return how it is written, with the meaning of each argument in the place of its value."""
        required = [f"{name}=<{meaning}>" for name, meaning in self.parameters.items()]
        return " ".join([self.name, *required, *(f"[{name}=<{meaning}>]" for name, meaning in self.optional.items())])


@cache
def tool_named(name: str) -> Tool[Environment]:
    """Return the command of a name; raises `UsageError` if there is none."""
    return TOOLS.load(name)


def repair_tools(environment: Environment) -> tuple[Tool[Environment], ...]:
    """Return the commands of a repair agent; it runs tests only where its setting lets it."""
    return tuple(tool_named(name) for name in TOOLS if name != "run_tests" or environment.run_tests is not None)


async def carry_out(action: Action, place: Place, tools: Sequence[Tool[Place]]) -> Observation:
    """Return what a command gives; a malformed, unknown or forbidden one gives an explanation."""
    by_name = {tool.name: tool for tool in tools}
    if action.error:
        example = by_name.get("read_file", tools[0])
        return Observation(f"{action.error} Enter one command, as: {example.usage}", is_error=True)
    if action.name not in by_name:
        near = get_close_matches(action.name, by_name, n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return Observation(f"There is no command {action.name!r}.{hint} Commands: {', '.join(by_name)}", is_error=True)
    tool = by_name[action.name]
    missing = [name for name in tool.parameters if name not in action.arguments]
    unknown = [name for name in action.arguments if name not in tool.parameters and name not in tool.optional]
    if missing or unknown:
        problems = [f"lacks {', '.join(missing)}"] if missing else []
        problems += [f"has no argument {', '.join(unknown)}"] if unknown else []
        return Observation(f"{action.name} {' and '.join(problems)}. Usage: {tool.usage}", is_error=True)
    return await tool.run(action.arguments, place)
