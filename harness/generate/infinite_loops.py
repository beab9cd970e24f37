"""Sessions that are stuck: the same acts or words again and again, with nothing learnt or changed between."""

from collections.abc import Callable

from misstep.harness.generate import outputs
from misstep.harness.generate.projects import ProjectChange, change_limit
from misstep.harness.generate.scenes import CodingSession, variants
from misstep.harness.generate.session import LOOP


def same_call_again(session: CodingSession) -> None:
    """One and the same search or command, with one and the same answer."""
    change = session.begin()
    repeat_call(session, change)
    _leave(session, change)


def repeat_call(session: CodingSession, change: ProjectChange, by_search: bool | None = None) -> None:
    """The loop of `same_call_again`: a search or a command, drawn where it is not said which."""
    word = f"{change.function}_default"
    command = session.random.choice((f"git log --oneline -3 -- {change.path}", f"git blame -L 1,4 {change.path}"))
    shown = outputs.history(session.random, session.project, 3)
    if by_search is None:
        by_search = session.random.random() < 0.5
    for _ in range(session.random.randint(4, 8)):
        said = session.beside("again")
        index = session.search(word, said=said) if by_search else session.run(command, shown, said=said)
        session.show(LOOP, index)


def nearly_same_call(session: CodingSession) -> None:
    """One search, written a little differently every time: quotes, flags, spelling of the path, a remark behind it."""
    change = session.begin()
    respell_call(session, change)
    _leave(session, change)


def respell_call(session: CodingSession, change: ProjectChange) -> None:
    """The loop of `nearly_same_call`."""
    word, folder = f"{change.function}_override", session.project.folder()
    ways = session.random.choice((_quoted, _spelt, _displayed, _remarked))(session, word, folder)
    session.random.shuffle(ways)
    for command in ways[: session.random.randint(4, 6)]:
        session.show(LOOP, session.run(command, "", 1, session.beside("again"), long=False))


def _quoted(_session: CodingSession, word: str, folder: str) -> list[str]:
    return [
        f'grep -rn "{word}" {folder}',
        f"grep -rn '{word}' {folder}",
        f"grep -rn {word} {folder}",
        f'grep -n -r "{word}" {folder}',
        f'grep -rn  "{word}"  {folder}/',
        f'grep -nr "{word}" {folder}',
    ]


def _spelt(_session: CodingSession, word: str, folder: str) -> list[str]:
    first, _, rest = folder.partition("/")
    return [
        f"grep -rn {word} {folder}",
        f"grep -rn {word} ./{folder}",
        f"grep -rn {word} {first}//{rest}",
        f"grep -rn {word} {folder}/",
        f"grep -rn {word} {first}/./{rest}",
        f"grep -rn {word} ././{folder}/",
    ]


def _displayed(_session: CodingSession, word: str, folder: str) -> list[str]:
    return [
        f"grep -rn {word} {folder}",
        f"grep -rn --color=never {word} {folder}",
        f"grep --color=auto -rn {word} {folder}",
        f"grep -rn {word} {folder} --color=always",
        f"grep --color -rn {word} {folder}",
        f"grep -rn {word} {folder} --color",
    ]


def _remarked(session: CodingSession, word: str, folder: str) -> list[str]:
    return [
        f"grep -rn {word} {folder}",
        *(f"grep -rn {word} {folder}  # {session.agent_text('again')}" for _ in range(5)),
    ]


def cycle_of_calls(session: CodingSession) -> None:
    """A round of two to four looks, made three times and more."""
    change = session.begin()
    go_round(session, change)
    _leave(session, change)


def go_round(session: CodingSession, change: ProjectChange) -> None:
    """The loop of `cycle_of_calls`."""
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


def edit_test_oscillation(session: CodingSession) -> None:
    """An edit made and taken back, the same test failing with the same error after each."""
    change = session.begin(least=2, most=5)
    oscillate(session, change)
    _leave(session, change)


def oscillation_that_ends(session: CodingSession) -> None:
    """An edit made and taken back over and over, and in the end the test passes."""
    change = session.begin(least=2, most=5)
    oscillate(session, change)
    session.test([])
    session.finish(change)


def oscillate(session: CodingSession, change: ProjectChange) -> None:
    """A change that was asked for, made and taken back two or three times: it is not made in the end."""
    session.look_at(change.path)
    function = session.function_of(change)
    session.show(LOOP, session.test([function]))
    old, new = change.old, change.new
    for _ in range(session.random.choice((4, 6))):
        session.show(LOOP, session.edit(change.path, old, new), session.test([function]))
        old, new = new, old


def same_error_after_each_edit(session: CodingSession) -> None:
    """An error that the agent brought in itself, and edit after edit of the same line that leaves it there."""
    change = session.begin(least=2, most=5)
    break_again_and_again(session, change)
    _leave(session, change)


def break_again_and_again(session: CodingSession, change: ProjectChange) -> str:
    """Return the loop of `same_error_after_each_edit`; gives the line as it is then, still broken."""
    session.look_at(change.path)
    line = session.project.files[change.path].index(change.old) + 1
    error = session.replied("unbalanced", path=change.path, line=line)
    bare = change.new.strip()
    indent = change.new.removesuffix(bare)
    tries = [f"({bare}", f"{bare})", f"(({bare})", f"{bare}((", f"({bare}))", f"( {bare}"]
    session.random.shuffle(tries)
    old = change.old
    for attempt in tries[: session.random.randint(5, 6)]:
        new = indent + attempt
        session.show(LOOP, session.edit(change.path, old, new))
        session.show(LOOP, session.run(session.project.language.build, error, 1, session.beside("building")))
        old = new
    return old


def rereading_unchanged(session: CodingSession) -> None:
    """The same file opened again and again, though nothing in it has changed."""
    change = session.begin(least=2, most=5)
    reread(session, change)
    _leave(session, change)


def reread(session: CodingSession, change: ProjectChange) -> None:
    """The loop of `rereading_unchanged`."""
    rereads = session.random.randint(5, 7)
    for count in range(rereads):
        session.show(LOOP, session.read(change.path))
        if count == rereads // 2:
            session.explore(1, 1, avoid=(change.path,))


def repeated_text(session: CodingSession) -> None:
    """The same paragraph over and over, without any act."""
    repeat_paragraph(session, session.begin())


def repeat_paragraph(session: CodingSession, change: ProjectChange) -> None:
    """The loop of `repeated_text`."""
    paragraph = session.agent_text("stuck_paragraph", function=change.function, path=change.path)
    nudge = session.replied("nudge") if session.random.random() < 0.5 else ""
    for _ in range(session.random.randint(4, 6)):
        session.show(LOOP, session.say(paragraph))
        if nudge:
            session.system(nudge)


def repeated_sentences(session: CodingSession) -> None:
    """The same two sentences over and over, each time with another one beside them, without any act."""
    repeat_words(session, session.begin())


def repeat_words(session: CodingSession, change: ProjectChange) -> None:
    """The loop of `repeated_sentences`."""
    names = {"function": change.function, "path": change.path}
    same = f"{session.agent_text('stuck_sentence', **names)} {session.agent_text('stuck_sentence', **names)}"
    for _ in range(session.random.randint(4, 6)):
        other = session.agent_text("again")
        said = (f"{same} {other}", f"{other} {same}")[session.random.randrange(2)]
        session.show(LOOP, session.say(said))


def loop_that_ends(session: CodingSession) -> None:
    """The same call many times over, and then the task is done after all."""
    (function,) = session.pick_functions()
    change = change_limit(session.random, function)
    session.ask_for(change)
    session.explore(2, 4, avoid=(change.path,))
    for _ in range(session.random.randint(4, 7)):
        session.show(LOOP, session.search(change.function, said=session.beside("again")))
    session.complete(change)


def _leave(session: CodingSession, change: ProjectChange) -> None:
    """Break off, or go on to look elsewhere for a while."""
    if session.random.random() < 0.5:
        session.explore(1, 3)
    session.close("giving_up", function=change.function, path=change.path)


VARIANTS = variants(
    (LOOP,),
    same_call_again,
    nearly_same_call,
    cycle_of_calls,
    edit_test_oscillation,
    oscillation_that_ends,
    same_error_after_each_edit,
    rereading_unchanged,
    repeated_text,
    repeated_sentences,
    loop_that_ends,
)
