"""`edit`: hand a file and an instruction to the patching sub-agent, apply what it writes, say what the checks found."""

from collections.abc import Mapping

from harness.agent.actions import Observation
from harness.agent.environment import Edited, Environment
from harness.agent.tools import Tool
from harness.agent.tools.observing import beneath, no_file
from harness.errors import EditRefused, MisstepError, closed


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
    said = [f"The edit was successful: {', '.join(changed)} changed."]
    if environment.static_analysis is not None and (found := await environment.static_analysis(changed)):
        said = [found]
    if environment.run_tests is not None:
        said.append(f"The tests were run:\n{(await environment.run_tests()).feedback()}")
    return Observation("\n\n".join(said))


def _refused(environment: Environment, edit: Edited) -> Observation:
    environment.edits.append(edit)
    return Observation(f"The edit was not applied: {closed(edit.refused)} Nothing has changed.", is_error=True)


EDIT = Tool(
    "edit",
    "Change a file: say in plain words what to change; a colleague who sees the file writes the change.",
    {"file_path": "path of the file", "instructions": "what to change, in words"},
    _edit,
)
