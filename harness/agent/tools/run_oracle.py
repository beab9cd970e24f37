"""`run_tests`: the tests that the repair has to make pass."""

from collections.abc import Mapping

from misstep.harness.agent.actions import Observation
from misstep.harness.agent.environment import Environment
from misstep.harness.agent.tools import Tool


async def _run_tests(arguments: Mapping[str, str], environment: Environment) -> Observation:  # noqa: ARG001
    if environment.run_tests is None:
        return Observation("Tests cannot be run in this environment.", is_error=True)
    return Observation((await environment.run_tests()).feedback())


RUN_TESTS = Tool("run_tests", "Run the tests that the task is about and show what fails.", {}, _run_tests)
