"""`exit`: the agent is done."""

from collections.abc import Mapping

from misstep.harness.agent.actions import Observation
from misstep.harness.agent.environment import Environment
from misstep.harness.agent.tools import Tool


async def _exit(arguments: Mapping[str, str], environment: Environment) -> Observation:  # noqa: ARG001
    return Observation("The run has ended.", ends=True)


EXIT = Tool("exit", "End the run, with a summary of what you did.", {"summary": "what you did and why"}, _exit)
