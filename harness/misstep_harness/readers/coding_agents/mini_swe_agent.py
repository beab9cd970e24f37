r"""mini-swe-agent runs: the messages alone, version 1 (`mini-swe-agent-1`), and 1.1 to 2 (`mini-swe-agent-1.1`).

    {"trajectory_format": "mini-swe-agent-1.1", "instance_id": "acme__parser-7",
     "info": {"exit_status": "Submitted", "submission": "diff --git …", "mini_version": "2.0.0",
              "model_stats": {"instance_cost": 0.04, "api_calls": 2}, "config": {"model": {"model_name": "m-large"}}},
     "messages": [
       {"role": "system", "content": "You repair code."},
       {"role": "user", "content": "Repair the parser."},
       {"role": "assistant", "content": "A look first.\n\n```bash\nls\n```", "extra": {"actions": [{"command": "ls"}]}},
       {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
       {"role": "exit", "content": "diff --git …", "extra": {"exit_status": "Submitted"}}]}

What the user says after an action is the observation. `exit_status` does not say whether the task was solved: the
outcome is unknown. `extra["step_of_message"]` has the step of each message, both counted from 0. A person's words and
commands in an interactive run are the user's; what the program says around them is not.

Checked with the agents, models and templates of versions 1.14.4 and 2.4.6 (a83fcae8).
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_json, name_of
from misstep_harness.readers.input.fields import amount, at, first_whole, rest_of, text_or_none, time_of, whole
from misstep_harness.readers.interchange.chat import ANSWERS, ChatMessage, Transcript, is_chat, result_of, turn_of
from misstep_harness.readers.interchange.content import parse_arguments
from misstep_harness.readers.interchange.conversation import Turn
from misstep_harness.trajectory import Source, Tokens, ToolCall, ToolResult, Trajectory

FORMAT = "mini_swe_agent"
UNIT: Unit = "value"

SUBMITTED = "Submitted"
"""How a run ends that the agent itself ended."""

_OPENING = re.compile(r"```(?:bash|mswea_bash_command)(\s*+)")
_CLOSING = "\n```"
_CODE = re.compile(r"\s*<returncode>(-?\d{1,10})</returncode>")
_OUTPUT = re.compile(r"\s*<returncode>-?\d{1,10}</returncode>\s*<output>\n?(.*)</output>\s*", re.DOTALL)
_MARKS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_PUT_IN = re.compile(
    r"(?:Interrupted by user: |The user added a new task: "
    r"|Commands? not executed\. (?:The user rejected your commands? with the following message: )?)"
)
_OF_PROGRAM = ("Temporary interruption caught.", "Switching to human mode", "Switched to human mode.")
_NOT_RUN = "action was not executed"
_INFO = ("exit_status", "mini_version", "model_stats")


class _Run(Struct):
    messages: list[dict[str, Any]]
    instance_id: str | None = None
    info: dict[str, Any] | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a run of mini-swe-agent."""
    value = sample.first
    if isinstance(value, dict):
        version = value.get("trajectory_format")
        if not isinstance(value.get("messages"), list):
            return "no list `messages`"
        if isinstance(version, str) and version.startswith("mini-swe-agent"):
            return None
        info = value.get("info")
        if isinstance(info, dict) and any(name in info for name in _INFO):
            return None
        return "no `trajectory_format` of mini-swe-agent and no `info` about the run"
    if sample.shape != "document" or not isinstance(value, list) or not is_chat(value):
        return "no object and no list of messages"
    if not any(_is_typical(raw.get("content")) for raw in value):
        return "a list of messages without bash blocks and their <returncode>"
    return None


def _is_typical(content: Any) -> bool:
    """Return whether only this agent writes so: the observation's tags, the block's language, the words that submit."""
    return isinstance(content, str) and (
        content.lstrip().startswith("<returncode>")
        or "```mswea_bash_command" in content
        or any(mark in content for mark in _MARKS)
    )


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one run of a document or line."""
    value = decode_json(data, source)
    fields: dict[str, Any] = {"messages": value} if isinstance(value, list) else value
    run = convert(fields, _Run, source)
    info = run.info or {}
    raws = [_as_chat(raw) for raw in run.messages]
    typed = convert(raws, list[ChatMessage], source)
    transcript = Transcript()
    ended_by = info.get("exit_status") or SUBMITTED
    where = [
        _add(transcript, raw, message, ended_by if index == len(raws) - 1 else None, source)
        for index, (raw, message) in enumerate(zip(raws, typed, strict=True))
    ]
    yield transcript.trajectory(
        run.instance_id or name_of(source),
        source,
        agent="mini-swe-agent",
        model=text_or_none(at(info, "config", "model", "model_name")),
        extra=rest_of(fields, _Run) | ({"info": info} if info else {}) | {"step_of_message": where},
    )


def _add(transcript: Transcript, raw: dict[str, Any], message: ChatMessage, ended_by: Any, source: Source) -> int:
    by_person = message.role == "user" and isinstance(at(raw, "extra", "actions"), list)
    if message.role == "assistant" or by_person:
        turn = _acting_turn(raw, message)
        turn.texts = [] if by_person else turn.texts  # they repeat the command
        return transcript.begin(turn)
    if message.role in ANSWERS:
        return transcript.answer(_observation(result_of(raw, message)), message.name)
    result = _observation(result_of(raw, message))
    if at(raw, "extra", "interrupt_type") == "FormatError":
        transcript.begin(_rejected_turn(raw, source))
        return transcript.answer(replace(result, is_error=True))
    if transcript.last_of_agent is None or message.role not in ("user", "exit"):
        return transcript.begin(turn_of(raw, message))
    if result.exit_code is not None:
        return transcript.answer(result)
    turn = turn_of(raw, message)
    put_in = _PUT_IN.match(result.text)
    words = result.text[put_in.end() if put_in else 0 :]
    if words in _OF_PROGRAM:
        return transcript.begin(replace(turn, role="system"))
    if put_in:
        return transcript.begin(replace(turn, texts=[words], extra=turn.extra | {"injected": [put_in[0]]}))
    last = transcript.turns[transcript.last_of_agent]
    if transcript.open or not (last.calls or last.results):
        submits = (at(raw, "extra", "exit_status") or ended_by) == SUBMITTED
        return transcript.answer(result if submits else replace(result, is_error=True))
    if ended_by is not None:
        turn.role = "system"
    return transcript.begin(turn)


def _rejected_turn(raw: dict[str, Any], source: Source) -> Turn:
    """Return the answer of the model that only the complaint about it records, with the calls that it tried."""
    text, response = at(raw, "extra", "model_response"), at(raw, "extra", "response")
    answer = _first_choice(raw) or (_as_chat(response) if isinstance(response, dict) else {})
    if isinstance(text, str):
        answer = {"content": text}
    answer = {"role": "assistant"} | answer
    (message,) = convert([answer], list[ChatMessage], source)
    turn = turn_of(answer, message)
    turn.tokens = _tokens(raw)
    return turn


def _acting_turn(raw: dict[str, Any], message: ChatMessage) -> Turn:
    turn = turn_of(raw, message)
    if not turn.calls:
        turn.calls = [ToolCall("bash", {"command": command}) for command in _commands(raw, "\n".join(turn.texts))]
    reasoning = _first_choice(raw).get("reasoning")
    if not turn.reasoning and isinstance(reasoning, str) and reasoning:
        turn.reasoning = [reasoning]
    turn.timestamp = time_of(at(raw, "extra", "timestamp"))
    turn.tokens = _tokens(raw)
    return turn


def _commands(raw: dict[str, Any], text: str) -> list[str]:
    """Return what the scaffold ran: the recorded actions, else the one bash block; of several blocks it runs none."""
    actions = at(raw, "extra", "actions")
    if isinstance(actions, list):
        return [command for action in actions if isinstance(command := at(action, "command"), str)]
    blocks = list(bash_blocks(text))
    return blocks if len(blocks) == 1 else []


def bash_blocks(text: str) -> Iterator[str]:
    r"""Return what the scaffold's own pattern, "```bash\s*\n(.*?)\n```", finds, in linear and not cubic time."""
    last = text.rfind(_CLOSING)
    place = 0
    while opened := _OPENING.search(text, place):
        blank, place = opened.span(1)
        first = text.rfind("\n", blank, place) + 1
        if not first:
            continue
        if last < first and text.startswith("```", place) and first == place:  # nothing but blanks inside
            first, end = text.rfind("\n", blank, place - 1) + 1, place - 1
        else:
            end = text.find(_CLOSING, first) if last >= first else -1
        if first and end >= 0:
            yield text[first:end]
            place = end + len(_CLOSING)


def _observation(result: ToolResult) -> ToolResult:
    code = _CODE.match(result.text)
    output = _OUTPUT.fullmatch(result.text)
    exception = at(result.extra, "extra", "exception_info")
    if exception == _NOT_RUN:  # a person refused the command, or it was the one that submits
        return result
    answer = parse_arguments(result.text)[0] if result.text.startswith("{") else None  # the template of `mini`
    plain = None if exception else text_or_none(at(answer, "output"))
    return replace(
        result,
        text=output[1] if output else result.text if plain is None else plain,
        exit_code=int(code[1]) if code else whole(at(result.extra, "extra", "returncode")),
        is_error=True if exception else result.is_error,
    )


def _tokens(raw: dict[str, Any]) -> Tokens | None:
    usage = at(raw, "extra", "response", "usage") or raw.get("usage")
    cost = at(usage, "cost") or at(raw, "extra", "cost")
    tokens = Tokens(
        first_whole(at(usage, name) for name in ("prompt_tokens", "input_tokens")),
        first_whole(at(usage, name) for name in ("completion_tokens", "output_tokens")),
        first_whole(at(usage, f"{name}_tokens_details", "cached_tokens") for name in ("prompt", "input")),
        amount(cost),
        whole(at(usage, "cache_creation_input_tokens")),
    )
    return tokens if tokens != Tokens() else None


def _first_choice(raw: dict[str, Any]) -> dict[str, Any]:
    choices = at(raw, "extra", "response", "choices")
    message = at(choices[0], "message") if isinstance(choices, list) and choices else None
    return message if isinstance(message, dict) else {}


def _as_chat(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a message as a chat message; some runs record items of OpenAI's newer interface instead."""
    if raw.get("type") == "function_call_output":
        rest = {name: value for name, value in raw.items() if name not in ("type", "call_id", "output")}
        return rest | {"role": "tool", "tool_call_id": raw.get("call_id"), "content": raw.get("output")}
    if "role" in raw or not isinstance(raw.get("output"), list):
        return raw
    items = [item for item in raw["output"] if isinstance(item, dict)]
    calls = [
        {"id": item.get("call_id"), "function": {"name": item.get("name"), "arguments": item.get("arguments")}}
        for item in items
        if item.get("type") == "function_call"
    ]
    parts = [part for item in items for part in _parts_of(item)]
    return raw | {"role": "assistant", "content": parts, "tool_calls": calls}


def _parts_of(item: dict[str, Any]) -> list[Any]:
    content = [item] if item.get("type") == "reasoning" else item.get("content")
    return content if isinstance(content, list) else []
