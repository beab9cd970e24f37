"""The commands of a repair: what is known of the task, the tests, an edit, the end."""

import re
from collections.abc import Mapping

from misstep_harness.agent.actions import EditFeedback, Observation
from misstep_harness.agent.environment import Edited, Environment
from misstep_harness.agent.tools import Tool
from misstep_harness.agent.tools.search import PAGE, beneath, no_file, paged
from misstep_harness.errors import EditRefused, MisstepError, closed

_FEWEST_OF_ID = 6
_CHANGED = re.compile(r"^(?:\+\+\+ b/|--- a/)([^\t\n]+)", re.MULTILINE)


def _details(kind: str, number: str, known: Mapping[str, str], name: str, arguments: Mapping[str, str]) -> Observation:
    wanted = number.strip().lstrip("#")
    # An id may be cut short, or be longer than the one that is known; of `task-7` the 7 is enough.
    alike = [one for one in known if one.endswith(f"-{wanted}") or _begins_alike(one, wanted)]
    if wanted and (name_known := wanted if wanted in known else alike[0] if len(alike) == 1 else ""):
        return paged(known[name_known].splitlines(), name, arguments)
    there = f"Known: {', '.join(sorted(known))}." if known else f"No {kind} is known here."
    return Observation(f"There is no {kind} {number!r}. {there}", is_error=True)


def _begins_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= _FEWEST_OF_ID and long.startswith(short)


async def _diff(arguments: Mapping[str, str], environment: Environment) -> Observation:
    known = {number: _titled(text) for number, text in environment.diffs.items()}
    return _details("diff", arguments["diff_number"], known, "get_diff_details", arguments)


def _titled(diff: str) -> str:
    """Return a diff with what it is about above it: a bare one has no title, and the files that it changes say most."""
    if not diff.lstrip().startswith(("diff ", "--- ", "Index: ")):
        return diff
    files = dict.fromkeys(_CHANGED.findall(diff))
    return f"Title: none is known; it changes {', '.join(files) or 'no file'}\n\n{diff}"


async def _task(arguments: Mapping[str, str], environment: Environment) -> Observation:
    return _details("task", arguments["task_num"], environment.tasks, "get_task_details", arguments)


async def _run_tests(arguments: Mapping[str, str], environment: Environment) -> Observation:  # noqa: ARG001
    if environment.run_tests is None:
        return Observation("Tests cannot be run in this environment.", is_error=True)
    return Observation((await environment.run_tests()).feedback())


async def _exit(arguments: Mapping[str, str], environment: Environment) -> Observation:  # noqa: ARG001
    return Observation("The run has ended.", ends=True)


async def _edit(arguments: Mapping[str, str], environment: Environment) -> Observation:
    path, instructions = beneath(arguments["file_path"]), arguments["instructions"]
    content = environment.text(path)
    if content is None:
        return no_file(path, environment)
    if not instructions.strip():
        return Observation("instructions is empty: say in words what to change.", is_error=True)
    try:
        reply = await environment.reply_of_patcher(path, content, instructions)
    except EditRefused as error:  # the change cannot be written in the run's format: the agent may want another one
        return _refused(environment, Edited(path, "", refused=error.line()))
    try:
        applied = environment.apply(reply, path)
    except (MisstepError, OSError) as error:
        refused = error.line() if isinstance(error, MisstepError) else str(error)
        return _refused(environment, Edited(path, reply, refused=refused))
    changed = tuple(applied.files)
    environment.edits.append(Edited(path, reply, applied.rules, changed))
    if not changed:
        return Observation("The edit changes nothing.", is_error=True, feedback=EditFeedback())
    return await _checked(changed, environment)


async def _checked(changed: tuple[str, ...], environment: Environment) -> Observation:
    errors = await environment.static_analysis(changed) if environment.static_analysis is not None else ""
    texts = [errors or f"The edit was successful: {', '.join(changed)} changed."]
    passed, rejected = None, False
    if environment.run_tests is not None:
        report = await environment.run_tests()
        passed = report.passed
        texts.append(f"The tests were run:\n{report.feedback()}")
        if passed and not errors and environment.patch_judge is not None:
            text, rejected = await environment.patch_judge()
            texts.append(text)
    return Observation("\n\n".join(texts), feedback=EditFeedback(True, bool(errors) or rejected, passed))


def _refused(environment: Environment, edit: Edited) -> Observation:
    environment.edits.append(edit)
    text = f"The edit was not applied: {closed(edit.refused)} Nothing has changed."
    return Observation(text, is_error=True, feedback=EditFeedback(applied=False))


_NUMBER = {"diff_number": "number of the diff"}
GET_DIFF_DETAILS = Tool(
    "get_diff_details", "Show a change: its title, its summary and what it changed.", _NUMBER, _diff, PAGE
)
GET_TASK_DETAILS = Tool(
    "get_task_details", "Show a task by its number.", {"task_num": "number of the task"}, _task, PAGE
)
RUN_TESTS = Tool("run_tests", "Run the tests that the task is about and show what fails.", {}, _run_tests)
EDIT = Tool(
    "edit",
    "Change a file: say in plain words what to change; a colleague who sees the file writes the change.",
    {"file_path": "path of the file", "instructions": "what to change, in words"},
    _edit,
)
EXIT = Tool("exit", "End the run, with a summary of what you did.", {"summary": "what you did and why"}, _exit)
