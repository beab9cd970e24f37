"""Loops and failing tool calls: pieces of a session, put where the plan wants them."""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from misstep_harness.generate import outputs
from misstep_harness.generate.projects import ProjectChange
from misstep_harness.generate.session import EDIT, FAILURE, LOOP, READ, RUN, SEARCH, Session


class Piece(Struct, frozen=True):
    """A piece of a session that misbehaves.

    - `name`: What it is called in `gold_variants.csv`.
    - `edits`: Whether it is about a change that is still to be made.
    - `by_text`: Whether only agents serve whose edits name the text to replace.
    """

    name: str
    plants: tuple[str, ...]
    write: Callable[[Session, ProjectChange], None]
    calls: Mapping[str, int]
    edits: bool = False
    by_text: bool = False


def _repeat_search(session: Session, change: ProjectChange) -> None:
    for _ in range(session.random.randint(4, 8)):
        remark = session.beside("again")
        session.show(LOOP, session.search(f"{change.function}_default", remark=remark))


def _respell_call(session: Session, change: ProjectChange) -> None:
    """One search, written a little differently every time: quotes, flags, colours, spelling of the path."""
    word, folder = f"{change.function}_override", session.project.folder()
    ways = [
        f'grep -rn "{word}" {folder}',
        f"grep -rn '{word}' {folder}/",
        f"grep -n -r {word} ./{folder}",
        f'grep -nr  "{word}"  {folder.replace("/", "//", 1)}',
        f"grep -rn --color=never {word} {folder}",
        f"grep -rn {word} {folder}  # {session.agent_text('again')}",
    ]
    session.random.shuffle(ways)
    for command in ways[: session.random.randint(4, 6)]:
        session.show(LOOP, session.run(command, "", 1, session.beside("again")))


def _go_round(session: Session, change: ProjectChange) -> None:
    fixed = outputs.history(session.random, session.project, 4)
    rounds: list[Callable[[], int]] = [
        lambda: session.read(change.path),
        lambda: session.search(change.function),
        lambda: session.run("git diff --stat", ""),
        lambda: session.run(f"git log --oneline -4 -- {change.path}", fixed),
    ]
    session.random.shuffle(rounds)
    length = session.random.randint(2, 4)
    for _ in range(session.random.randint(3, 4) + (length == 2)):
        for act in rounds[:length]:
            session.show(LOOP, act())


def _oscillate(session: Session, change: ProjectChange) -> None:
    session.look_at(change.path)
    function = next(one for one in session.project.functions[change.path] if one.name == change.function)
    session.show(LOOP, session.test(function))
    old, new = change.old, change.new
    for _ in range(session.random.choice((4, 6))):
        session.show(LOOP, session.edit(change.path, old, new), session.test(function))
        old, new = new, old


def _repeat_paragraph(session: Session, change: ProjectChange) -> None:
    paragraph = session.agent_text("stuck_paragraph", function=change.function, path=change.path)
    nudge = session.replied("nudge") if session.random.random() < 0.5 else ""
    for _ in range(session.random.randint(4, 6)):
        session.show(LOOP, session.say(paragraph))
        if nudge:
            session.system(nudge)


LOOPS = (
    Piece("repeat_search", (LOOP,), _repeat_search, {SEARCH: 6}),
    Piece("respell_call", (LOOP,), _respell_call, {RUN: 5}),
    Piece("go_round", (LOOP,), _go_round, {READ: 3, SEARCH: 3, RUN: 5}),
    Piece("oscillate", (LOOP,), _oscillate, {EDIT: 5, RUN: 6, READ: 1}, edits=True),
    Piece("repeat_paragraph", (LOOP,), _repeat_paragraph, {}),
)


def _refuse_calls(kind: str, session: Session, change: ProjectChange) -> None:
    make = getattr(session.vocabulary, kind)
    for path in _other_sources(session, change):
        word = session.random.choice(session.project.functions[path]).name
        session.show(FAILURE, session.refused(make(path, word), session.beside("trying", word=word)))
        session.explore(1, 2, avoid=session.project.sources)


def _other_sources(session: Session, change: ProjectChange) -> list[str]:
    others = [path for path in session.project.sources if path != change.path]
    return session.random.sample(others, session.random.randint(4, 5))


def _imagine_paths(session: Session, change: ProjectChange) -> None:
    for folder in session.random.sample(("core", "common", "shared", "helpers", "legacy", "api", "base"), 5):
        path = f"{session.project.folder()}/{folder}/{change.path.rpartition('/')[2]}"
        answer = session.vocabulary.refusal("no_such_file", path=path)
        remark = session.beside("reading", path=path)
        named = session.vocabulary.read(path, 1, 40)
        session.show(FAILURE, session.call(named, answer, remark, failed=True, code=1))


def _reject_replies(session: Session, _change: ProjectChange) -> None:
    """Replies in which the program that runs the agent finds no call, so that nothing is done."""
    for path in session.random.sample(session.project.sources, session.random.randint(4, 5)):
        session.show(FAILURE, session.say(session.agent_text("unusable_reply", path=path)))
        session.system(session.replied("reply_rejected"))


def _misremember(session: Session, change: ProjectChange) -> None:
    guesses = misremembered(change.old)
    session.random.shuffle(guesses)
    for guess in guesses[: session.random.randint(3, 4)]:
        session.show(FAILURE, session.failed_edit(change.path, guess, change.new))
        session.explore(1, 2, avoid=(change.path,))


def misremembered(line: str) -> list[str]:
    """Return four ways to remember a line of code that are not in its file."""
    bare = line.strip()
    return [
        line.replace("LIMIT", "MAX").replace("Limit", "Max"),
        line.replace(" > ", " < ") if " > " in line else line.replace(" = ", " = 1"),
        f"\t\t\t\t{bare}",
        f"{line}  //",
    ]


def _repeat_refused_call(session: Session, change: ProjectChange) -> None:
    make = session.random.choice((session.vocabulary.malformed, session.vocabulary.incomplete))
    broken = make(change.path, change.function)
    for _ in range(session.random.randint(4, 7)):
        index = session.refused(broken, session.beside("again"))
        session.show(FAILURE, index)
        session.show(LOOP, index)


_BETWEEN = {READ: 2, SEARCH: 2, RUN: 2}
"""The looks between calls that are refused."""

UNKNOWN_TOOL = Piece("unknown_tool", (FAILURE,), partial(_refuse_calls, "unknown"), _BETWEEN)
FAILURES = (
    Piece("missing_argument", (FAILURE,), partial(_refuse_calls, "incomplete"), _BETWEEN | {SEARCH: 7}),
    Piece("malformed_call", (FAILURE,), partial(_refuse_calls, "malformed"), _BETWEEN | {SEARCH: 7}),
    Piece("imagined_paths", (FAILURE,), _imagine_paths, {READ: 5}),
    Piece("rejected_replies", (FAILURE,), _reject_replies, {}),
    Piece("failed_edits", (FAILURE,), _misremember, _BETWEEN | {EDIT: 4}, edits=True, by_text=True),
)
STUCK_FAILURE = Piece("repeat_refused_call", (FAILURE, LOOP), _repeat_refused_call, {SEARCH: 5})
"""Both in one: a refused call, the same to the letter, again and again."""
