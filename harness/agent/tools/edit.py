"""`edit`: hand a file and an instruction to the patching sub-agent, apply what it writes, say what the checks found."""

from collections.abc import Mapping

from misstep.harness.agent.actions import Observation
from misstep.harness.agent.environment import Edited, Environment
from misstep.harness.agent.tools import Tool
from misstep.harness.agent.tools.observing import beneath, no_file
from misstep.harness.errors import EditRefused, MisstepError, closed


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
        return Observation("The edit changes nothing.", is_error=True)
    return Observation("\n\n".join(await _feedback(changed, environment)))


async def _feedback(changed: tuple[str, ...], environment: Environment) -> list[str]:
    """Return what the checks that the setting allows say of an edit; the judge is asked where they find nothing."""
    found = await environment.static_analysis(changed) if environment.static_analysis is not None else ""
    said = [found or f"The edit was successful: {', '.join(changed)} changed."]
    if environment.run_tests is not None:
        report = await environment.run_tests()
        said.append(f"The tests were run:\n{report.feedback()}")
        if report.passed and not found and environment.patch_judge is not None:
            said.append(await environment.patch_judge())
    return said


def _refused(environment: Environment, edit: Edited) -> Observation:
    environment.edits.append(edit)
    return Observation(f"The edit was not applied: {closed(edit.refused)} Nothing has changed.", is_error=True)


EDIT = Tool(
    "edit",
    "Change a file: say in plain words what to change; a colleague who sees the file writes the change.",
    {"file_path": "path of the file", "instructions": "what to change, in words"},
    _edit,
)
