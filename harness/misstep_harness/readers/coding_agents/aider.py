"""Aider chat history: Markdown text, one file a project, a run after each "# aider chat started at".

Lines of the user and of the program end in two spaces::

    # aider chat started at 2026-01-05 10:00:00

    > Aider v0.86.0
    > Model: gpt-x with diff edit format

    #### Rename the flag in cli.py

    cli.py
    ```python
    <<<<<<< SEARCH
    verbose = False
    =======
    loud = False
    >>>>>>> REPLACE
    ```

    > Tokens: 2.5k sent, 36 received. Cost: $0.0014 message, $0.0014 session.
    > Applied edit to cli.py

"####" is the user, ">" the program, all else the model. Each edit block is a call `edit` with `path`, `search` and
`replace`, or `content` for a whole file; "Applied edit to" and failed matches are the results of these calls. A page
that holds such a chat is read as well, and a JSON object with such a chat as the text of a field. A message of the
program of several lines has ">" and the two spaces only at its ends; a heading or quotation of the model has no spaces.

Checked with `io.py` and the coders of version 0.86 (5dc9490): reflections, confirmations, failed blocks, tokens.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Literal

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import decode_json, name_of, unreadable
from misstep_harness.readers.input.fields import amount, filled
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Source, Tokens, ToolCall, ToolResult, Trajectory

FORMAT = "aider"
UNIT: Unit = "value"

_START = "# aider chat started at "
_SAID_BY_PROGRAM = re.compile(
    r"^> (?:\$ aider\b|Aider v\d|Applied edit to |Added .+ to the chat|Tokens: |Main model: |Model: .+ edit format)",
    re.MULTILINE,
)
_SEARCH = re.compile(r"<{5,9} ?(?:SEARCH|ORIGINAL|HEAD)>?")
_DIVIDER = re.compile(r"={5,9}")
_REPLACE = re.compile(r">{5,9} ?(?:REPLACE|UPDATED|updated)")
_MARKUP = re.compile(r"</?div(?: [^>]*)?>")
_MODEL = re.compile(r"(?:Main m|M)odel: (\S+)(?: with (.+?) edit format)?")
_TOKENS = re.compile(r"Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?")
_RECEIVED = re.compile(r"(?<![\d.,])([\d.,]++[kM]?) received")
_COST = re.compile(r"Cost: \$([\d.]+) message")
_APPLIED = "Applied edit to "
_CHOICES, _NOTHING_TYPED = "(Y)es/(N)o", "<blank>"
_ANSWERED = re.compile(r"\]: \w{1,9}\Z")
_OTHERS_APPLIED = "were applied successfully"
_IDENTITIES = ("instance_id", "id")
_FAILED = re.compile(r"failed to (?:exactly )?match(?: lines in (?P<path>.+))?|did not conform to the edit format")

Speaker = Literal["user", "program", "model"]


class _Passage(Struct):
    speaker: Speaker
    line: int
    lines: list[str]


class _Run(Struct):
    started: str
    line: int
    passages: list[_Passage]
    asked: bool = False
    markup: list[str] = []


def refuse(sample: Sample) -> str | None:
    """Return why the file is not an Aider chat history."""
    if sample.shape != "text":
        return None if _history_in(sample.first) else "JSON without a text that is such a chat history"
    if sample.head.startswith(_START) or f"\n{_START}" in sample.head:
        return None
    if "\n#### " in sample.head and _SAID_BY_PROGRAM.search(sample.head):
        return None
    return 'no line "# aider chat started at", nor "####" lines between what aider says'


def _history_in(value: Any) -> str | None:
    fields = value.items() if isinstance(value, dict) else ()
    return next((name for name, text in fields if isinstance(text, str) and text.lstrip().startswith(_START)), None)


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return a trajectory for each run in the history."""
    if data.lstrip().startswith(b"{"):
        value = decode_json(data, source)
        held = _history_in(value)
        if held is None:
            raise unreadable("no text that is a chat history", source)
        named = next((value[name] for name in _IDENTITIES if isinstance(value.get(name), str)), None)
        rest = {name: field for name, field in value.items() if name != held}
        yield from _trajectories(value[held], named or name_of(source), source, rest)
        return
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise unreadable("not UTF-8", source, data.count(b"\n", 0, error.start) + 1) from error
    name = PurePath(source.file).name.removesuffix(".md").removesuffix(".chat.history").strip(".") or "aider"
    yield from _trajectories(text, name, source, {})


def _trajectories(text: str, name: str, source: Source, rest: dict[str, Any]) -> Iterator[Trajectory]:
    counts: dict[str, int] = {}
    for run in _runs(text):
        identity = "-".join(filter(None, [name, run.started.replace(" ", "T")]))
        counts[identity] = counts.get(identity, 0) + 1
        yield _trajectory(run, identity if counts[identity] == 1 else f"{identity}-{counts[identity]}", source, rest)


def _runs(text: str) -> Iterator[_Run]:
    run = _Run("", 1, [])
    fenced = reasoning = False
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    marked = any(line.startswith("#### ") and line.endswith("  ") for line in lines)
    ends = _ends_of_messages(lines) if marked else [-1] * len(lines)
    until = -1
    for place, line in enumerate(lines):
        number = place + 1
        if line.startswith(_START):
            if run.passages:
                yield run
            run, fenced, reasoning = _Run(line.removeprefix(_START).strip(), number, []), False, False
            continue
        if place <= until:
            speaker: Speaker = "program"
        elif line == "####" or (line.startswith("#### ") and (not marked or line.endswith("  "))):
            line = line[5:]
            speaker = "program" if _is_logged_for_user(line.rstrip()) else "user"
            run.asked, fenced, reasoning = run.asked or speaker == "user", False, False
        elif _MARKUP.fullmatch(line):
            run.markup.append(line)
            continue
        elif (
            _is_of_program(line, marked, ends[place]) and not reasoning and (not fenced or _SAID_BY_PROGRAM.match(line))
        ):
            speaker, fenced, line, until = "program", False, line[2:], ends[place]
        else:
            speaker = _speaker_of_plain_line(run, line)
            reasoning = line.startswith("<thinking-content-") or (reasoning and "</thinking-content-" not in line)
            fenced = fenced != (line.startswith("```") and not reasoning)
        if run.passages and run.passages[-1].speaker == speaker:
            run.passages[-1].lines.append(line)
        elif line.strip():
            run.passages.append(_Passage(speaker, number, [line]))
    if run.passages:
        yield run


def _ends_of_messages(lines: list[str]) -> list[int]:
    """Return for each line where a message that begins there ends: at the next two spaces; -1 if it has no such end."""
    ends = [-1] * len(lines)
    end = -1
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place]
        if line.endswith("  ") and line.strip():
            end = place
        elif line.startswith(_START):
            end = -1
        own = end == place or (end >= 0 and not lines[end].startswith(("> ", "#### ")))
        ends[place] = end if own else -1
    return ends


def _is_logged_for_user(line: str) -> bool:
    """Return whether nothing was typed, or the program answered its own question as the person did before."""
    return line == _NOTHING_TYPED or (_CHOICES in line and _ANSWERED.search(line) is not None)


def _is_of_program(line: str, marked: bool, end: int) -> bool:
    return line == ">" or (
        line.startswith("> ") and (not marked or end >= 0 or _SAID_BY_PROGRAM.match(line) is not None)
    )


def _speaker_of_plain_line(run: _Run, line: str) -> Speaker:
    """Return the speaker of a line without a mark: the model; before the user's first word the program."""
    if not line.strip() and run.passages:
        return run.passages[-1].speaker
    return "model" if run.asked else "program"


def _trajectory(run: _Run, identity: str, source: Source, rest: dict[str, Any]) -> Trajectory:
    conversation = Conversation()
    edits = 0
    model = None
    for passage in run.passages:
        if passage.speaker == "user":
            text = "\n".join(line.rstrip() for line in passage.lines).strip("\n")
            conversation.begin(Turn("user", [text], extra={"line": passage.line}))
        elif passage.speaker == "model":
            turn = conversation.begin(_model_turn(passage))
            for path, arguments in _edit_blocks(passage.lines):
                edits += 1
                conversation.call(turn, ToolCall("edit", {"path": path} | arguments, f"edit-{edits}"))
        else:
            model_line = next((match for line in passage.lines if (match := _MODEL.match(line))), None)
            model = model or (model_line[1] if model_line else None)
            edits = _add_program(conversation, passage, edits)
    extra = rest | filled([("started", run.started), ("line", run.line), ("page_markup", run.markup)])
    return conversation.trajectory(identity, source, agent="aider", model=model, extra=extra)


def _model_turn(passage: _Passage) -> Turn:
    turn = Turn("agent", extra={"line": passage.line})
    texts: list[str] = []
    thought: list[str] = []
    thinking = False
    for line in passage.lines:
        if line.startswith("<thinking-content-"):
            thinking = True
        elif line.startswith("</thinking-content-"):
            thinking = False
        else:
            (thought if thinking else texts).append(line)
    text, reasoning = ("\n".join(lines).strip("\n") for lines in (texts, thought))
    turn.texts = [text] if text else []
    turn.reasoning = [reasoning] if reasoning else []
    return turn


def _edit_blocks(lines: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield path, and what is searched and put in its place, of each finished edit block."""
    path = ""
    search: list[str] | None = None
    replace: list[str] | None = None
    for place, line in enumerate(lines):
        mark = line.rstrip()
        if search is None and _SEARCH.fullmatch(mark):
            path = _path_before(lines, place) or path
            search = []
        elif search is not None and replace is None and _DIVIDER.fullmatch(mark):
            replace = []
        elif search is not None and replace is not None and _REPLACE.fullmatch(mark):
            yield path, {"search": "\n".join(search), "replace": "\n".join(replace)}
            search = replace = None
        elif search is not None:
            (search if replace is None else replace).append(line)


def _path_before(lines: list[str], place: int) -> str:
    for line in reversed(lines[max(0, place - 3) : place]):
        name = line.strip().strip("`*:# ")
        if _REPLACE.fullmatch(line.rstrip()) or " " in name:
            break
        if name and not line.startswith("```"):
            return name
    return ""


def _add_program(conversation: Conversation, passage: _Passage, edits: int) -> int:
    turn = conversation.last_of_agent if conversation.turns and conversation.turns[-1].role == "agent" else None
    lines = [line.rstrip() for line in passage.lines]
    if turn is not None:
        spent = next((line for line in lines if line.startswith("Tokens: ")), None)
        turn.tokens = _tokens(spent) if spent else None
        applied = [line for line in lines if line.startswith(_APPLIED)]
        failed = any(_FAILED.search(line) for line in lines)
        known = {call.arguments["path"] for call in turn.calls if isinstance(call.arguments, dict)}
        new = [path for path in dict.fromkeys(line.removeprefix(_APPLIED) for line in applied) if path not in known]
        whole = _whole_files(turn.texts) if new else {}
        for path in new:
            edits += 1
            content = {"content": whole[path]} if path in whole else {}
            conversation.call(turn, ToolCall("edit", {"path": path} | content, f"edit-{edits}"))
        if failed or applied:
            _add_results(conversation, turn, lines)
        lines = [line for line in lines if line != spent and not line.startswith(_APPLIED)]
    text = "\n".join(lines).strip()
    if text:
        conversation.begin(Turn("system", [text], extra={"line": passage.line}))
    return edits


def _add_results(conversation: Conversation, turn: Turn, lines: list[str]) -> None:
    text = f"\n{_stripped(lines)}\n"
    known = set(lines)
    others = next((line for line in lines if _OTHERS_APPLIED in line), None)
    of_all: list[str] = []
    of_path: dict[str, list[str]] = {}
    for line in lines:
        if failure := _FAILED.search(line):
            if failure["path"] is None:
                of_all.append(line)
                for of_file in of_path.values():
                    of_file.append(line)
            else:
                of_path.setdefault(failure["path"], list(of_all)).append(line)
    about_all = "\n".join(of_all)
    for call in turn.calls:
        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        path, search = arguments.get("path", ""), _stripped(arguments.get("search", "").split("\n"))
        about = "\n".join(of_path[path]) if path in of_path else about_all
        applied = f"{_APPLIED}{path}" if f"{_APPLIED}{path}" in known else None
        shown = path in of_path and (not search or f"\n{search}\n" in text)
        if about and (shown or not (applied or others)):
            conversation.result(ToolResult(about, is_error=True, call_id=call.id))
        elif done := applied or others:
            conversation.result(ToolResult(done, is_error=False, call_id=call.id))


def _stripped(lines: list[str]) -> str:
    """Return lines without their indentation, which some versions leave out where they quote a block."""
    return "\n".join(line.strip() for line in lines).strip()


def _whole_files(texts: list[str]) -> dict[str, str]:
    """Return the files that the model gave whole, by name: the first fence under a line with its name."""
    lines = "\n".join(texts).split("\n")
    fences = [number for number, line in enumerate(lines) if line.startswith("```")]
    by_name: dict[str, str] = {}
    for fence, end in pairwise([*fences, len(lines)]):
        name = lines[fence - 1].strip().strip("`*:# ") if fence else None
        if name is not None and name not in by_name:
            by_name[name] = "\n".join(lines[fence + 1 : end])
    return by_name


def _tokens(line: str) -> Tokens:
    sent, received, cost = _TOKENS.search(line), _RECEIVED.search(line), _COST.search(line)
    return Tokens(
        prompt=_count(sent[1]) if sent else None,
        completion=_count(received[1]) if received else None,
        cached=_count(sent[3]) if sent and sent[3] else None,
        cost_usd=_number(cost[1]) if cost else None,
        cache_written=_count(sent[2]) if sent and sent[2] else None,
    )


def _count(printed: str) -> int | None:
    """Return tokens as printed: "36", "2.5k", "1.2M", "1,024"."""
    factor = {"k": 1000, "M": 1_000_000}.get(printed[-1], 1)
    number = _number(printed.rstrip("kM").replace(",", ""))
    return None if number is None else round(number * factor)


def _number(printed: str) -> float | None:
    try:
        return amount(float(printed))
    except ValueError:
        return None
