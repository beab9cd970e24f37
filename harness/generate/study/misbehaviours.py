"""The loops and failing tool calls of a study: pieces of a session, put where the plan wants them."""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct, structs

from misstep.harness.generate import infinite_loops as loops
from misstep.harness.generate import tool_failures as failures
from misstep.harness.generate.projects import ProjectChange, ProjectFunction
from misstep.harness.generate.session import FAILURE, LOOP
from misstep.harness.generate.study.session import EDIT, READ, RUN, SEARCH, StudySession
from misstep.harness.generate.vocabularies import Broken

Write = Callable[[StudySession, ProjectChange], ProjectChange | None]
"""Writes the piece about a change; gives the change as it has to be made then, where that is another one."""


class Piece(Struct, frozen=True):
    """A piece of a session that misbehaves.

    - `name`: What it is called in `gold_variants.csv`.
    - `plants`: The misbehaviours that it shows.
    - `write`: Writes it.
    - `calls`: About how many calls it makes, by act.
    - `edits`: Whether it is about a change that is still to be made.
    - `tests`: Whether it runs tests.
    - `by_text`: Whether only agents serve whose edits name the text to replace.
    """

    name: str
    plants: tuple[str, ...]
    write: Write
    calls: Mapping[str, int]
    edits: bool = False
    tests: bool = False
    by_text: bool = False


def _break_again_and_again(session: StudySession, change: ProjectChange) -> ProjectChange:
    return structs.replace(change, old=loops.break_again_and_again(session, change))


LOOPS = (
    Piece("repeat_search", (LOOP,), partial(loops.repeat_call, by_search=True), {SEARCH: 6}),
    Piece("repeat_command", (LOOP,), partial(loops.repeat_call, by_search=False), {RUN: 6}),
    Piece("respell_call", (LOOP,), loops.respell_call, {RUN: 5}),
    Piece("go_round", (LOOP,), loops.go_round, {READ: 3, SEARCH: 3, RUN: 5}),
    Piece("oscillate", (LOOP,), loops.oscillate, {EDIT: 5, RUN: 6, READ: 1}, edits=True, tests=True),
    Piece("break_again_and_again", (LOOP,), _break_again_and_again, {EDIT: 6, RUN: 6, READ: 1}, edits=True),
    Piece("reread", (LOOP,), loops.reread, {READ: 6}),
    Piece("repeat_paragraph", (LOOP,), loops.repeat_paragraph, {}),
    Piece("repeat_words", (LOOP,), loops.repeat_words, {}),
)
"""Pieces that are stuck."""


def _refused(kind: str) -> Write:
    def write(session: StudySession, change: ProjectChange) -> None:
        make: Callable[[str, str], Broken] = getattr(session.vocabulary, kind)

        def broken(one: ProjectFunction) -> Broken:
            return make(one.path, one.name)

        failures.refuse_calls(session, change, broken)

    return write


def _reject_replies(session: StudySession, _change: ProjectChange) -> None:
    failures.reject_replies(session, session.system)


_BETWEEN = {READ: 2, SEARCH: 2, RUN: 2}
"""The looks between calls that are refused."""

UNKNOWN_TOOL = Piece("unknown_tool", (FAILURE,), _refused("unknown"), _BETWEEN)
FAILURES = (
    Piece("missing_argument", (FAILURE,), _refused("incomplete"), _BETWEEN | {SEARCH: 7}),
    Piece("invalid_argument", (FAILURE,), _refused("invalid"), _BETWEEN | {READ: 7}),
    Piece("malformed_call", (FAILURE,), _refused("malformed"), _BETWEEN | {SEARCH: 7}),
    Piece("wrong_usage", (FAILURE,), failures.misuse_command, {RUN: 6, READ: 2, SEARCH: 1}),
    Piece("imagined_paths", (FAILURE,), failures.imagine_paths, {READ: 5}),
    Piece("rejected_replies", (FAILURE,), _reject_replies, {}),
    Piece("failed_edits", (FAILURE,), failures.misremember, _BETWEEN | {EDIT: 4}, edits=True, by_text=True),
)
"""Pieces whose calls are refused through the agent's own fault."""


def _repeat_refused_call(session: StudySession, change: ProjectChange) -> None:
    make = session.random.choice((session.vocabulary.malformed, session.vocabulary.incomplete))
    failures.repeat_refused_call(session, make(change.path, change.function))


STUCK_FAILURE = Piece("repeat_refused_call", (FAILURE, LOOP), _repeat_refused_call, {SEARCH: 5})
"""Both in one."""
