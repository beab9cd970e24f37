"""Parts of pages that list many things, filter them and open one of them at a time.

Data inside a page: JSON that no text can break out of, compressed if it is large.

A page's script reads `<script type="application/json">`: a value, or the Base64 of its JSON compressed by zlib:

    {"ids": ["i0", "i1"], "labels": ["fruit"]}        "eJyrVspMKVayUlDKNFTSUcpNLC5WslJQSgezzZRqAY5jCI0="

Neither holds a `<`, `>` or `&`, so that nothing in them ends the element or starts another.

The frame of pages with a browser of many things, one of which its script opens at a time.

Its policy forbids every request: only its own scripts run, known by their hash.

A run of an agent as a report's item browser opens it: shortened to a bound, its evidence in full.

The page holds it as JSON, shown here with made-up values:

    {"id": "run-7", "task": {"start": "Sort the list."}, "facts": [["Outcome", "failed"]], "n_steps": 31,
     "view": "misstep view runs.jsonl --id run-7",
     "steps": [{"number": 0, "role": "agent", "text": {"start": "I will", "cut": 9120, "end": "done."}, …},
               {"number": 20, "role": "agent", "skipped": 19, …}]}
"""

import hashlib
import heapq
import shlex
import zlib
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from misstep_analysis.pages.page import Foot, asset, described, markup, render
from misstep_analysis.pages.trajectory import Passage, StepView, passage, run_facts, step_view, text_lengths
from misstep_harness.escaping import one_line, printable
from misstep_harness.session import Session
from misstep_harness.trajectory import Step, ToolCall, Trajectory
from misstep_harness.values import as_json
from misstep_harness.verdict import Verdict

PLAIN_UP_TO = 2_000
_LEVEL = 6
_MARKUP = frozenset("<>&")
_AS_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def embedded(value: Any) -> str:
    """Return a value of structs, lists and dicts as the content of a script element, every text in it printable."""
    content = msgspec.json.encode(_shown(msgspec.to_builtins(value)))
    if len(content) <= PLAIN_UP_TO:
        return content.decode().translate(_AS_ESCAPES)
    return f'"{b64encode(zlib.compress(content, _LEVEL)).decode()}"'


def is_embedded(text: str) -> bool:
    """Return whether a stored text may be in a script element: nothing in it ends the element or starts another."""
    return not _MARKUP.intersection(text)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    if isinstance(value, dict):
        return {name: _shown(one) for name, one in value.items()}
    return value


class Pieces:
    """Parts of a page by name; the least wanted go when all together are larger than `most_bytes` in the page.

    No more than the bound is held at once.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._count = 0
        self._lost = -1
        self._parts: list[tuple[int, int, str, str]] = []

    def wants(self, rank: int) -> bool:
        """Return whether a part of this rank may be kept: not if the bound has cost a part that ranks as high."""
        return rank > self._lost

    def add(self, name: str, rank: int, value: Any) -> None:
        """Keep a part; of those that do not fit, the latest of the lowest rank goes."""
        self.add_embedded(name, rank, embedded(value))

    def add_embedded(self, name: str, rank: int, text: str) -> None:
        """Keep a part that is the content of a script element already."""
        heapq.heappush(self._parts, (rank, -self._count, name, text))
        self._count += 1
        self._size += len(text.encode())
        while self._size > self._most and self._parts:
            rank, _, _, gone = heapq.heappop(self._parts)
            self._size -= len(gone.encode())
            self._lost = max(self._lost, rank)

    def contents(self) -> dict[str, str]:
        """Return the kept parts in the order in which they came: name → the content of its script element."""
        return {name: text for _, _, name, text in sorted(self._parts, key=lambda one: -one[1])}


_SCRIPTS = ("browser/elements.js", "browser/runs.js", "browser/listing.js")
_SCRIPTS_OF = {
    "judges/page.html.jinja": ("judges/items.js", "judges/item.js", "judges/browser.js"),
    "repairs/page.html.jinja": ("repairs/browser.js",),
    "runs/index.html.jinja": ("browser/judged_runs.js", "runs/index.js"),
    "sessions/page.html.jinja": ("browser/judged_runs.js", "sessions/browser.js"),
}
"""Template → the scripts of its browser, after those that all share."""

LINES_SHOWN = 200
"""How many of the things are in the page for readers without scripts."""


Line = TypeVar("Line")


class Listed(Struct, Generic[Line], frozen=True):
    """The things of a page: data for its script, by name, and lines for readers without scripts."""

    data: Mapping[str, str]
    lines: tuple[Line, ...]
    title: str
    notes: tuple[str, ...] = ()


def browser_page(
    template: str,
    *,
    title: str,
    finding: str,
    warnings: Iterable[str],
    foot: Foot,
    browser: Listed[Any] | None = None,
    **values: Any,
) -> str:
    """Return the page, with the things of its browser if it has one for the whole page."""
    if browser is not None:
        values |= {"browser": browser, "data": {name: markup(content) for name, content in browser.data.items()}}
    whole = "{\n" + "\n".join(map(asset, (*_SCRIPTS, *_SCRIPTS_OF[template]))) + "\n}"
    return render(
        template,
        title=title,
        finding=finding,
        warnings=tuple(warnings),
        foot=described(foot),
        policy=policy([asset("sort.js"), whole]),
        browser_style=markup(asset("browser/style.css")),
        browser_script=markup(whole),
        **values,
    )


def policy(scripts: Iterable[str]) -> str:
    """Return the content security policy of a page: nothing is loaded, and no script runs but these."""
    hashes = (b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


EVIDENCE_SHOWN = 6_000
STEPS_SHOWN = 200
"""How many steps are shown at most besides the evidence and its neighbours, half from each end of the run."""

_MOST_OF_A_TEXT = (4_000, 2_000, 1_000, 500, 250, 120)
_FEWEST_STEPS = 6
_NEIGHBOURS = 1
_TASK_SHOWN = 4_000


class ShownRun(Struct, frozen=True, omit_defaults=True):
    """A run as the browser opens it; `view` is the command that shows all of it."""

    id: str
    n_steps: int
    task: Passage = Passage()
    facts: tuple[tuple[str, str], ...] = ()
    steps: tuple[StepView, ...] = ()
    view: str = ""


def shown_run(
    run: Trajectory,
    evidence: Collection[int],
    most_characters: int,
    view: str = "",
    *,
    evidence_shown: int = EVIDENCE_SHOWN,
) -> ShownRun:
    """Return a run with its evidence in full and the rest shortened."""
    shown, most = _shape(run, evidence, most_characters)
    views, previous = [], -1
    for number in shown:
        most_here = evidence_shown if number in evidence else most
        views.append(step_view(number, run.steps[number], (), number - previous - 1, most_here))
        previous = number
    task = passage(run.task, max(most, min(_TASK_SHOWN, most_characters)), always_open=True)
    return ShownRun(run.id, len(run.steps), task, run_facts(run), tuple(views), view)


def _shape(run: Trajectory, evidence: Collection[int], room: int) -> tuple[Sequence[int], int]:
    lengths = [[length for length in text_lengths(step) if length] for step in run.steps]
    near = {
        number + away
        for number in evidence
        for away in range(-_NEIGHBOURS, _NEIGHBOURS + 1)
        if 0 <= number + away < len(lengths)
    }
    half = STEPS_SHOWN // 2
    while True:
        ends = {number for number in range(len(lengths)) if number < half or number >= len(lengths) - half}
        shown = sorted(ends | near)
        cuttable = sorted(length for number in shown if number not in evidence for length in lengths[number])
        up_to = [0, *accumulate(cuttable)]
        for most in _MOST_OF_A_TEXT:
            whole = bisect_right(cuttable, most)
            if up_to[whole] + most * (len(cuttable) - whole) <= room:
                return shown, most
        if half <= _FEWEST_STEPS // 2:
            return shown, _MOST_OF_A_TEXT[-1]
        half //= 2


SESSION_CHARACTERS = 24_000
_EVIDENCE_CHARACTERS = 96_000
"""How many characters of evidence are shown at most if every step of it has one long text."""


def show_session(session: Trajectory, evidence: Collection[int]) -> str:
    """Return a session with its evidence in full and the rest shortened, as the content of a script element."""
    most = min(EVIDENCE_SHOWN, _EVIDENCE_CHARACTERS // max(len(evidence), 1))
    return embedded(shown_run(session, evidence, SESSION_CHARACTERS, evidence_shown=most))


REASON_SHOWN = 600
_STEPS_NAMED = 8
_SECONDS = 1 << 40


class WantedSession(Struct, frozen=True):
    """A listed session, its findings, and the part of the page that holds its steps, if one does."""

    rank: int
    session: Session
    found: tuple[Verdict, ...]
    piece: str


def session_index(
    listed: Sequence[WantedSession],
    stored: Collection[str],
    numbered: Mapping[str, Iterable[str]],
    figures: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return sessions as a page's script reads them, a list a field.

    Categories and the `numbered` values (field → a value a session) are held once and then counted from 0.
    """
    words = {name: Numbered() for name in ("category", *numbered)}
    categories = [[words["category"].of(verdict.judge) for verdict in one.found] for one in listed]
    numbers = {name: [words[name].of(value) for value in values] for name, values in numbered.items()}
    sessions = [one.session for one in listed]
    return {
        **{"categories" if name == "category" else f"{name}s": column.words() for name, column in words.items()},
        "id": [one.item for one in sessions],
        "title": [one.title for one in sessions],
        "category": categories,
        "rationale": [[shortened(verdict.rationale) for verdict in one.found] for one in listed],
        "steps": [[verdict.steps for verdict in one.found] for one in listed],
        **numbers,
        "started": [one.started or "" for one in sessions],
        "n_steps": [one.n_steps for one in sessions],
        **(figures or {}),
        "parent": [one.parent or "" for one in sessions],
        "file": [one.file for one in sessions],
        "line": [one.line for one in sessions],
        "view": [view_of(one) for one in sessions],
        "piece": [one.piece if one.piece in stored else "" for one in listed],
    }


def view_of(session: Session) -> str:
    """Return the command that shows all of a session."""
    return shlex.join(["misstep", "view", session.file, "--id", session.item])


def steps_named(steps: Sequence[int]) -> str:
    """Return the first of some steps."""
    return ", ".join(map(str, steps[:_STEPS_NAMED])) + (", …" if len(steps) > _STEPS_NAMED else "")


def rank_of(session: Session, count: int) -> int:
    """Return the rank of a session: higher with more categories found in it, then if it is newer."""
    return count * _SECONDS + _started(session)


def _started(session: Session) -> int:
    """When a session started, in seconds since 1970; 0 where no time is known."""
    try:
        started = datetime.fromisoformat(session.started or "")
    except ValueError:
        return 0
    return max(int((started if started.tzinfo else started.replace(tzinfo=UTC)).timestamp()), 0)


def shortened(text: str, most: int = REASON_SHOWN) -> str:
    """Return a text in one line, cut to `most` characters."""
    line = one_line(text[: 2 * most])
    return line if len(line) <= most else f"{line[:most].rstrip()} …"


NONE = -1


class Numbered:
    """Words by number, in the order of their first use."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        self._place = {word: place for place, word in enumerate(words)}

    def of(self, word: str | None) -> int:
        """Return the number of a word, a new one if the word is new."""
        return NONE if word is None else self._place.setdefault(word, len(self._place))

    def words(self) -> list[str]:
        """Return the words, in order."""
        return list(self._place)


def gist(step: Step, most: int) -> str:
    """Return the first words of what a step does, `most` characters: its calls, else its text, else what came back."""
    calls = "; ".join(_call(call, most) for call in step.calls)
    return shortened(calls[: 4 * most] or step.text.strip() or "; ".join(one.text[:most] for one in step.results), most)


def _call(call: ToolCall, most: int) -> str:
    values = [call.arguments] if isinstance(call.arguments, str) else list(call.arguments.values())
    texts = (value if isinstance(value, str) else as_json(value, indented=False) for value in values)
    return f"{call.name} {', '.join(one[:most] for one in texts)}".strip()
