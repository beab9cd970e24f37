r"""Tasks of Cline (github.com/cline/cline) and Roo Code (github.com/RooCodeInc/Roo-Code): a list of messages each.

The file `tasks/<task>/api_conversation_history.json`; `ui_messages.json` beside it says the same and is not read::

    [{"role": "user", "ts": 1767607200000, "content": [
       {"type": "text", "text": "<task>\nRename the flag\n</task>"},
       {"type": "text", "text": "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>"}]},
     {"role": "assistant", "ts": 1767607201000, "modelInfo": {"providerId": "openai", "modelId": "gpt-x"}, "content": [
       {"type": "text", "text": "I look."},
       {"type": "tool_use", "id": "c1", "name": "execute_command", "input": {"command": "ls"}}]},
     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}]}]

Messages are Anthropic's with fields of the programs' own. Earlier versions wrote calls as text, elements named for
tools, as `<read_file>\n<path>a.py</path>\n</read_file>`, answered by `[read_file for 'a.py'] Result:` and a text below
it. The last closing tag of a file's content counts, as the content may hold such tags. A person's words are in the tags
`task`, `user_message`, `feedback` and `answer`, or in `feedback` of a JSON result; what both programs add is untagged.

Checked with Cline 3.72 (91b947de) and Roo Code 3.52 (cb836567): mentions, commands, hooks, summaries, refusals.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_json, name_of, unreadable
from misstep_harness.readers.input.fields import amount, at, filled, rest_of, text_or_none, time_of_milliseconds, whole
from misstep_harness.readers.interchange.content import Block, parse_arguments, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Source, Tokens, ToolCall, ToolResult, Trajectory

FORMAT = "cline"
UNIT: Unit = "value"

_PERSONS_TAGS = ("task", "user_message", "feedback", "answer")
_PERSONS_OPENINGS = tuple(f"<{tag}>" for tag in _PERSONS_TAGS)
_OPENINGS = ("<task>", "<user_message>", "<environment_details>")
_PROGRAMS = (
    *("<environment_details>", "[ERROR]", "[TASK RESUMPTION]", "<explicit_instructions", "# task_progress"),
    *("<hook_context", "<command name=", "Tool [", "Skipping tool", "[read_file for "),
)
_OF_PERSON = re.compile(r"(?:The user [^\n]{0,200}:\n)?<(?:task|user_message|feedback|answer)>")
_BEFORE_WORDS = (
    "[TASK RESUMPTION]",
    "<explicit_instructions",
    "The user ",
    "You seem to be ",
    "New ",
    *_PERSONS_OPENINGS,
)
"""How a text begins that may hold a person's words: another one with such a tag quotes a file or a terminal."""

_NO_ANSWER = "Failure: I did not provide a response."
_BROKEN_OFF = re.compile(r"\n\n\[Response interrupted by (?:user|API Error)\]\Z")
_CACHE_APART = {"anthropic", "bedrock", "vertex", "cline", "openrouter", "gemini", "deepseek", "openai-native", "groq"}
"""Providers of whose prompts the program does not count what was cached."""
_FAILED = ("The tool execution failed", "<error_details>", '{"status":"error"', "<error>")
_EXIT_CODE = re.compile(r"(?:\A|\n)(?:Exit code: |Command [^\n]{0,1000}?[ (][Ee]xit code:? )(-?\d{1,10})\b")
_LOOKED_AT = 2000

TOOLS = frozenset(
    {"execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "edit_file"}
    | {"search_and_replace", "search_replace", "apply_patch", "search_files", "list_files", "codebase_search"}
    | {"list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "web_fetch", "web_search"}
    | {"ask_followup_question", "attempt_completion", "new_task", "plan_mode_respond", "act_mode_respond"}
    | {"switch_mode", "fetch_instructions", "update_todo_list", "load_mcp_documentation", "condense", "summarize_task"}
    | {"new_rule", "report_bug", "run_slash_command", "generate_image", "use_skill", "skill", "read_command_output"}
)
"""The tools of both programs, older and newer."""

_LONG = ("content", "diff")
_OPENING = re.compile(r"<([a-z][a-z_]{1,40})>")
_CLOSING = re.compile(r"</([a-z][a-z_]{1,40})>")
_HEADING = re.compile(
    r"\[(?!read_file for [^\n]*'\]\n)([a-z][a-z_]{1,40})(?= for |\] Result:)(?s:.{0,4000}?)\] Result:"
)


class _Message(Struct, rename="camel"):
    role: str | None = None
    content: Any = None
    ts: Any = None
    model_info: Any = None
    metrics: Any = None
    type: str | None = None
    summary: Any = None
    text: str | None = None
    is_summary: bool | None = None
    is_truncation_marker: bool | None = None


class _Answer(Struct):
    texts: list[str]
    call: str | None
    is_error: bool | None
    extra: dict[str, Any]


class _Prompt(Struct):
    own: list[str] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)
    untagged: list[str] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    results: list[_Answer] = field(default_factory=list)
    in_text: bool = False


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a task of Cline or Roo Code."""
    messages = sample.first
    if not isinstance(messages, list) or not messages or not all(isinstance(one, dict) for one in messages):
        return "no list of messages"
    if all("ts" in one and one.get("type") in ("say", "ask") for one in messages[:5]):
        return "a task as the screen shows it: give the api_conversation_history.json beside it"
    if any(one.get("role") not in ("user", "assistant") and one.get("type") != "reasoning" for one in messages):
        return "its messages have roles of others"
    first: dict[str, Any] = next((one for one in messages if one.get("role") == "user"), {})
    text = split_content(first.get("content"))[0]
    return None if any(opening in text for opening in _OPENINGS) else "its first message has no task and no environment"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one task of a file."""
    messages = decode_json(data, source)
    if not isinstance(messages, list):
        raise unreadable("no list of messages", source)
    reading = _Reading(source)
    for raw in messages:
        if not isinstance(raw, dict):
            raise unreadable(f"a message is not an object but {type(raw).__name__}", source)
        reading.place(raw)
    yield reading.conversation.trajectory(
        name_of(source, "api_conversation_history", "claude_messages"),
        source,
        agent="cline",
        model=reading.model,
        extra=filled([("unplaced_reasoning", reading.reasoning)]),
    )


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.conversation = Conversation()
        self.model: str | None = None
        self.reasoning: list[Any] = []
        self._waiting: list[ToolCall] = []
        self._n_in_text = 0

    def place(self, raw: dict[str, Any]) -> None:
        message = convert(raw, _Message, self.source)
        if message.type == "reasoning":
            self.reasoning.append(raw)
            return
        extra = filled([("modelInfo", message.model_info), ("metrics", message.metrics)]) | rest_of(raw, _Message)
        blocks = message.content if isinstance(message.content, list) else [message.content]
        if message.role == "assistant":
            self._place_answer(message, blocks, extra)
        elif message.is_summary or message.is_truncation_marker:
            text, others = split_content(message.content)
            self.conversation.say(
                "system", [text], time_of_milliseconds(message.ts), extra | filled([("content", others)])
            )
        else:
            self._place_asked(message, blocks, extra)

    def _block(self, raw: Any) -> Block:
        if isinstance(raw, dict):
            return convert(raw, Block, self.source)
        return Block("text", raw) if isinstance(raw, str) else Block()

    def _place_answer(self, message: _Message, blocks: list[Any], extra: dict[str, Any]) -> None:
        self.model = self.model or text_or_none(at(message.model_info, "modelId"))
        turn = self.conversation.say("agent", [], time_of_milliseconds(message.ts), extra)
        turn.extra |= filled([("reasoning", self.reasoning)])
        turn.reasoning = [text for item in self.reasoning if (text := split_content(item.get("summary"))[0])]
        turn.tokens = _tokens(message)
        self.reasoning, self._waiting = [], []
        others: list[Any] = []
        for raw in blocks:
            block = self._block(raw)
            if block.type == "tool_use" and block.name is not None:
                self.conversation.call(turn, tool_call(block.name, block.input, block.id, rest_of(raw, Block)))
            elif block.type in ("thinking", "reasoning") and (block.thinking or block.text):
                turn.reasoning += [block.thinking or block.text or ""]
                others += _rest(raw)
            elif block.type == "text" and block.text is not None:
                turn.role = "system" if block.text == _NO_ANSWER else "agent"
                broken = _BROKEN_OFF.search(block.text)
                turn.extra |= filled([("injected", [broken[0].strip()] if broken else None)])
                self._add_text(turn, block.text[: broken.start()] if broken else block.text)
                others += _rest(raw)
            elif raw is not None:
                others.append(raw)
        turn.extra |= filled([("content", others)])

    def _add_text(self, turn: Turn, text: str) -> None:
        words, calls = split_calls(text)
        turn.texts += [words] if words else []
        for call in calls:
            self._n_in_text += 1
            error = "the text breaks off in the call" if call.unfinished else None
            tool_call = ToolCall(call.name, dict(call.arguments), f"written-{self._n_in_text}", error)
            self.conversation.call(turn, tool_call)
            self._waiting.append(tool_call)

    def _place_asked(self, message: _Message, blocks: list[Any], extra: dict[str, Any]) -> None:
        prompt = _Prompt()
        for raw in blocks:
            block = self._block(raw)
            if block.type == "tool_result":
                text, more = split_content(block.content)
                more_fields = filled([("content", more)]) | rest_of(raw, Block)
                held = block.content is not None
                prompt.results.append(_Answer([text] if held else [], block.tool_use_id, block.is_error, more_fields))
            elif block.type != "text" or block.text is None:
                prompt.others += [raw] if raw is not None else []
            else:
                self._add_asked(prompt, block.text)
                prompt.others += _rest(raw)
        own = [word for answer in prompt.results for word in _words_in_result(answer)] + prompt.own
        if own or prompt.results or prompt.injected:
            prompt.injected += prompt.untagged
        else:
            own = prompt.untagged
        if prompt.results and not own:
            prompt.results[-1].extra |= filled([("injected", prompt.injected)])
        for answer in prompt.results:
            self.conversation.result(_result(answer))
        if own or not prompt.results or prompt.others or extra:
            injected = [] if prompt.results and not own else prompt.injected
            fields = extra | filled([("injected", injected if own else None), ("content", prompt.others)])
            when = time_of_milliseconds(message.ts)
            self.conversation.say("user" if own else "system", own or injected, when, fields)

    def _add_asked(self, prompt: _Prompt, text: str) -> None:
        heading = heading_of(text)
        words = _words(text) if text.lstrip().startswith(_BEFORE_WORDS) else []
        if heading is not None:
            prompt.results.append(_Answer([heading[1]] if heading[1] else [], self._waits_for(heading[0]), None, {}))
            prompt.in_text = True
        elif text.lstrip().startswith(_PROGRAMS):
            prompt.own += words
            prompt.injected.append(text)
        elif prompt.in_text and not (prompt.results[-1].texts and _OF_PERSON.match(text.lstrip())):
            prompt.results[-1].texts.append(text)
        elif words:
            prompt.own += words
            alone = any(text.strip() == f"<{tag}>\n{words[0]}\n</{tag}>" for tag in _PERSONS_TAGS)
            prompt.injected += [] if alone else [text]
        else:
            prompt.untagged.append(text)

    def _waits_for(self, tool: str) -> str | None:
        call = next((call for call in self._waiting if call.name == tool), None)
        if call is None:
            return None
        self._waiting.remove(call)
        return call.id


def _words(text: str) -> list[str]:
    """Return the text in the first of a person's tags; behind it are files that the words mention."""
    if text.startswith("<explicit_instructions"):
        text = text.partition("</explicit_instructions>")[2] or text
    opened = [(place, tag) for tag in _PERSONS_TAGS if (place := text.find(f"<{tag}>")) >= 0]
    if not opened:
        return []
    place, tag = min(opened)
    own, closed, _ = text[place + len(tag) + 2 :].partition(f"</{tag}>")
    return [own.strip()] if closed and own.strip() else []


def _words_in_result(answer: _Answer) -> list[str]:
    """Return what a person said to a call, if that is the result: a file that was read may hold such tags too."""
    text = "\n".join(answer.texts)
    text = (heading_of(text) or ("", text))[1].strip()
    if text.startswith('{"status":'):
        feedback = text_or_none(at(parse_arguments(text)[0], "feedback"))
        return [feedback] if feedback else []
    if text.startswith("Command ") and text.endswith(("</user_message>", "</feedback>")):
        return _words(text[max(text.rfind(opening) for opening in _PERSONS_OPENINGS) :])  # the output is before
    return _words(text) if text.startswith((*_PERSONS_OPENINGS, "The user ")) else []


def _result(answer: _Answer) -> ToolResult:
    text = "\n".join(answer.texts)
    heading = heading_of(text)
    text = text if heading is None else heading[1]
    failed = True if answer.is_error or text.lstrip().startswith(_FAILED) else answer.is_error
    printed = _EXIT_CODE.search(text[:_LOOKED_AT])
    code = int(printed[1]) if printed else None
    return ToolResult(text, failed, code, answer.call, answer.extra, bool(answer.texts))


def _rest(raw: Any) -> list[Any]:
    rest = rest_of(raw, Block) if isinstance(raw, dict) else {}
    return [rest] if rest else []


def _tokens(message: _Message) -> Tokens | None:
    metrics = message.metrics
    if not isinstance(metrics, dict):
        return None
    prompt, completion, cached = (whole(at(metrics, "tokens", name)) for name in ("prompt", "completion", "cached"))
    apart = text_or_none(at(message.model_info, "providerId")) in _CACHE_APART
    if prompt is not None and cached is not None and (apart or cached > prompt):
        prompt += cached
    return Tokens(prompt, completion, cached, amount(metrics.get("cost")))


class InText(Struct, frozen=True):
    """A call as it is written: tool, arguments, and whether the text breaks off in it."""

    name: str
    arguments: dict[str, str]
    unfinished: bool = False


def split_calls(text: str) -> tuple[str, list[InText]]:
    """Return the text without the calls in it, and the calls, in order."""
    texts: list[str] = []
    calls: list[InText] = []
    place = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < place or opening[1] not in TOOLS:
            continue
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        texts.append(text[place : opening.start()])
        inner = text[opening.end() : end if end >= 0 else len(text)]
        calls.append(InText(opening[1], _arguments(inner), end < 0))
        place = end + len(closing) if end >= 0 else len(text)
    texts.append(text[place:])
    return "".join(texts).strip(), calls


def _arguments(inner: str) -> dict[str, str]:
    ends: defaultdict[str, list[int]] = defaultdict(list)
    for closing in _CLOSING.finditer(inner):
        ends[closing[1]].append(closing.start())
    fields: dict[str, str] = {}
    place = 0
    for opening in _OPENING.finditer(inner):
        name, after = opening[1], ends.get(opening[1], [])
        following = bisect_right(after, opening.start())
        if opening.start() < place or following == len(after):
            continue
        end = after[-1] if name in _LONG else after[following]
        fields[name] = inner[opening.end() : end].strip("\n")
        place = end + len(name) + 3
    return fields


def heading_of(text: str) -> tuple[str, str] | None:
    """Return the tool whose result a text is, and the result; `None` for another text."""
    match = _HEADING.match(text)
    return None if match is None else (match[1], text[match.end() :].strip("\n"))
