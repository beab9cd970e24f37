"""Let a model decide the next command: by text (`Thought:` and `Command:`), or by function calling."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from misstep_harness.agent.actions import Action, read_command, write_command
from misstep_harness.agent.loop import AgentStopped
from misstep_harness.agent.protocols import ModelSettings, PatchRequest, Task
from misstep_harness.agent.tools import TOOLS, Tool, tool_named
from misstep_harness.exchange import Failure, Function, FunctionCall, Message, Reply
from misstep_harness.intervention import INTERVENTION
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.reminder import defused
from misstep_harness.trajectory import Step, Tokens, ToolCall


class DirectPolicy:
    """Enters one edit and ends the run; whatever the edit came to is not looked at."""

    name = "direct"

    def __init__(self, path: str, instruction: str) -> None:
        self._edit = Action("edit", {"file_path": path, "instructions": instruction})

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """Return the edit, and the end behind it."""
        is_patched = any(step.role == "agent" for step in steps)
        return Action("exit", {"summary": "The patcher was asked once."}) if is_patched else self._edit


_COMMAND = re.compile(r"^[ \t]*(?:\*\*)?(?:Command|Action):(?:\*\*)?[ \t]*", re.MULTILINE | re.IGNORECASE)
_THOUGHT = re.compile(r"^\s*(?:\*\*)?Thought:(?:\*\*)?[ \t]*", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)
_NEXT_TURN = re.compile(r"^[ \t]*(?:\*\*)?(?:Observation|Thought):", re.MULTILINE | re.IGNORECASE)

_LEFT_OUT = "[left out: the conversation is too long]"


class ModelPolicy:
    """Asks a model for each command."""

    name = "model"

    def __init__(
        self,
        settings: ModelSettings = ModelSettings(),  # noqa: B008 -- frozen
        tools: Sequence[Tool[Any]] | None = None,
    ) -> None:
        self._settings, self._tools = settings, tools

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """Return the model's next command; raises `AgentStopped` where it gives no answer."""
        settings = self._settings
        offered = steps[0].text if steps else ""
        functions = self._functions(offered) if settings.form == "functions" else ()
        messages = conversation(steps, settings.most_characters)
        outcome = await ask(settings.request(ask.model, messages, functions))
        if isinstance(outcome, Failure):
            raise AgentStopped(f"the model gave no answer: {outcome.sentence}")
        return replace(
            self.read(outcome), tokens=Tokens(outcome.input_tokens, outcome.output_tokens, cost_usd=outcome.cost_usd)
        )

    def read(self, reply: Reply) -> Action:
        """Return the command in a reply: its first call, else the text behind `Command:`."""
        if not reply.calls:
            return read_answer(reply.text or "")
        first = replace(_of_call(reply.calls[0]), thought=(reply.text or "").strip())
        if len(reply.calls) == 1 or first.error:
            return first
        error = f"{len(reply.calls)} commands were entered, and none was carried out. Enter one at a time."
        return replace(first, arguments={}, error=error)

    def _functions(self, system: str) -> tuple[Function, ...]:
        known = map(tool_named, TOOLS) if self._tools is None else self._tools
        return tuple(
            Function(tool.name, tool.purpose, {**tool.parameters, **tool.optional}, tuple(tool.optional))
            for tool in known
            if f"\n{tool.name}" in system
        )


def read_answer(text: str) -> Action:
    r"""The thought and the command in a model's text; what it makes up as an observation behind them is left out.

    >>> read_answer("Thought: look\nCommand: run_tests").name
    'run_tests'
    """
    match = _COMMAND.search(text)
    if match is None:
        thought = _THOUGHT.sub("", text).strip()
        error = "No command was found. Write a line that begins with “Command:”."
        return Action("", thought=thought, command=text, error=error)
    thought = _THOUGHT.sub("", text[: match.start()]).strip()
    rest = text[match.end() :]
    following = _COMMAND.search(rest)
    rest = rest[: following.start()] if following else rest
    made_up = _NEXT_TURN.search(rest)
    rest = _FENCE.sub("", rest[: made_up.start()] if made_up else rest).strip().strip("`")
    action = read_command(rest)
    if action.error and "\n" in rest:
        # Prose below the command; a text in quotes may have lines, so the whole is tried first.
        first = read_command(rest.split("\n", 1)[0])
        action = action if first.error else first
    return replace(action, thought=thought)


def conversation(steps: Sequence[Step], most_characters: int) -> tuple[Message, ...]:
    """Return the run as messages: the prompts, then a turn of the model and an observation an iteration."""
    messages: list[Message] = []
    guidance: dict[int, str] = {}
    for step in steps:
        if step.role == "system" and INTERVENTION in step.extra and messages:
            place = len(messages) - 1
            guidance[place] = "\n\n".join(filter(None, (guidance.get(place), step.text)))
        elif step.role != "agent":
            messages.append(Message("system" if step.role == "system" else "user", defused(step.text)))
        else:
            commands = [f"Command: {_command_text(call)}" for call in step.calls]
            messages.append(
                Message("assistant", defused("\n".join([f"Thought: {step.text}"] * bool(step.text) + commands)))
            )
            observed = "\n".join(result.text for result in step.results)
            messages.append(Message("user", defused(f"Observation:\n{observed}")))
    left = most_characters - sum(map(len, guidance.values()))
    for place, message in enumerate(_shortened(messages, left)):
        parts = (message.content, guidance[place]) if place in guidance else (message.content,)
        messages[place] = Message(message.role, "\n\n".join(parts))
    return tuple(messages)


def _shortened(messages: Sequence[Message], most: int) -> list[Message]:
    """The conversation within `most` characters: old observations go first, the prompts and the last turns never."""
    shortened = list(messages)
    length = sum(len(message.content) for message in shortened)
    for place in range(3, len(shortened) - 4, 2):
        if length <= most:
            break
        if len(shortened[place].content) > len(_LEFT_OUT):
            length += len(_LEFT_OUT) - len(shortened[place].content)
            shortened[place] = Message("user", _LEFT_OUT)
    return shortened


def _command_text(call: ToolCall) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return write_command(call.name, {name: str(value) for name, value in call.arguments.items()})


def _of_call(call: FunctionCall) -> Action:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    command = f"{call.name} {call.arguments}"
    if not isinstance(arguments, dict):
        return Action(call.name, command=command, error=f"The arguments of {call.name} are not a JSON object.")
    texts = {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
    return Action(call.name, texts, command=command)


PROMPT = "agent/patcher"


class ModelPatcher:
    """Asks a model for an edit."""

    def __init__(self, rules: Callable[[str], str], settings: ModelSettings = ModelSettings()) -> None:  # noqa: B008 -- frozen
        self._rules, self._settings = rules, settings

    async def patch(self, request: PatchRequest, ask: Ask) -> str:
        """Return the model's reply; raises `AgentStopped` if there is none."""
        messages = messages_of(request, self._rules(request.path))
        outcome = await ask(self._settings.request(self._settings.name or ask.model, messages))
        if isinstance(outcome, Failure):
            raise AgentStopped(f"the patching model gave no answer: {outcome.sentence}")
        return outcome.text or ""


def messages_of(request: PatchRequest, rules: str) -> tuple[Message, ...]:
    """Return what the patching model is shown: how to write an edit, the run so far, the file, the instruction."""
    prompt = shipped_prompt(PROMPT)
    values = {
        "rules": rules,
        "history": request.history or "(nothing yet)",
        "path": request.path,
        "code": request.content,
        "instructions": request.instructions,
    }
    system, user = fill(prompt.system, values), fill(prompt.user, values)
    return (Message("system", system), Message("user", user))
