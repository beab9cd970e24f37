"""Sessions that are stuck: the same acts or words again and again, with nothing learnt or changed between."""

from collections.abc import Callable

from harness.generate import outputs
from harness.generate.projects import change_limit
from harness.generate.scenes import begin, explore, function_of, look_at, pick_functions, solve, what
from harness.generate.session import LOOP, Session, Variant

_AGAIN = (
    "Let me check that.",
    "I should check this first.",
    "Hm. Let me verify.",
    "That should tell me more.",
    "I need to see this to go on.",
    "Once more to be sure.",
    "Let me have a look.",
)


def same_call_again(session: Session) -> None:
    """One and the same search or command, with one and the same answer."""
    change = begin(session)
    word = f"{change.function}_default"
    command = session.random.choice((f"git log --oneline -3 -- {change.path}", f"git blame -L 1,4 {change.path}"))
    shown = outputs.history(session.random, session.project, 3)
    by_search = session.random.random() < 0.5
    for _ in range(session.random.randint(4, 8)):
        said = session.narrator.sentence(_AGAIN)
        index = session.search(word, said=said) if by_search else session.run(command, shown, said=said)
        session.show(LOOP, index)
    _leave(session, "I could not find out more about it")


def nearly_same_call(session: Session) -> None:
    """One search, written a little differently every time."""
    change = begin(session)
    word, folder = f"{change.function}_override", session.project.folder()
    ways = [
        f'grep -rn "{word}" {folder}',
        f"grep -rn '{word}' {folder}",
        f"grep -rn {word} {folder}",
        f'grep -n -r "{word}" {folder}',
        f'grep -rn  "{word}"  {folder}/',
        f'grep -nr "{word}" {folder}',
    ]
    session.random.shuffle(ways)
    for command in ways[: session.random.randint(4, 6)]:
        session.show(LOOP, session.run(command, "", 1, session.narrator.sentence(_AGAIN), long=False))
    _leave(session, f"there is no `{word}` that I could see")


def cycle_of_calls(session: Session) -> None:
    """A round of two to four looks, made three times and more."""
    change = begin(session)
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
    _leave(session, "I am still looking for the place")


def edit_test_oscillation(session: Session) -> None:
    """An edit made and taken back, the same test failing with the same error after each."""
    change = begin(session, least=2, most=5)
    look_at(session, change.path)
    function = function_of(session, change)
    session.show(LOOP, session.test([function]))
    old, new = change.old, change.new
    for _ in range(session.random.choice((4, 6))):
        session.show(LOOP, session.edit(change.path, old, new), session.test([function]))
        old, new = new, old
    _leave(session, f"the test of `{change.function}` still fails")


def same_error_after_each_edit(session: Session) -> None:
    """An error that the agent brought in itself, and edit after edit of the same line that leaves it there."""
    change = begin(session, least=2, most=5)
    look_at(session, change.path)
    line = session.project.files[change.path].index(change.old) + 1
    error = f"{change.path}:{line}: syntax error: unbalanced parenthesis\n1 error"
    bare = change.new.strip()
    indent = change.new.removesuffix(bare)
    tries = [f"({bare}", f"{bare})", f"(({bare})", f"{bare}((", f"({bare}))", f"( {bare}"]
    session.random.shuffle(tries)
    old = change.old
    for attempt in tries[: session.random.randint(5, 6)]:
        new = indent + attempt
        session.show(LOOP, session.edit(change.path, old, new))
        session.show(LOOP, session.run(session.project.language.build, error, 1, "Does it build now?"))
        old = new
    _leave(session, "the build still reports an unbalanced parenthesis")


def rereading_unchanged(session: Session) -> None:
    """The same file opened again and again, though nothing in it has changed."""
    change = begin(session, least=2, most=5)
    rereads = session.random.randint(5, 7)
    for count in range(rereads):
        session.show(LOOP, session.read(change.path))
        if count == rereads // 2:
            explore(session, 1, 1, avoid=(change.path,))
    _leave(session, f"I have read {change.path} and need more time")


def repeated_text(session: Session) -> None:
    """The same paragraph over and over, without any act."""
    change = begin(session)
    paragraph = (
        f"I now understand the problem. `{change.function}` compares the wrong way, so I will change {change.path}. "
        "First I will think about which callers depend on it, then I will make the change."
    )
    nudged = session.random.random() < 0.5
    for _ in range(session.random.randint(4, 6)):
        session.show(LOOP, session.say(paragraph))
        if nudged:
            session.system("No tool was called. The session goes on.")


def loop_that_ends(session: Session) -> None:
    """The same call many times over, and then the task is done after all."""
    (function,) = pick_functions(session)
    change = change_limit(session.random, function)
    session.user(f"{change.wish[0].upper()}{change.wish[1:]}.")
    explore(session, 2, 4, avoid=(change.path,))
    for _ in range(session.random.randint(4, 7)):
        session.show(LOOP, session.search(change.function, said=session.narrator.sentence(_AGAIN)))
    solve(session, change)
    session.close(what(change))


def _leave(session: Session, why: str) -> None:
    """Break off, or go on to look elsewhere for a while."""
    if session.random.random() < 0.5:
        explore(session, 1, 3)
    session.say(f"I have to stop here: {why}.")


VARIANTS = (
    Variant("same_call_again", (LOOP,), same_call_again),
    Variant("nearly_same_call", (LOOP,), nearly_same_call),
    Variant("cycle_of_calls", (LOOP,), cycle_of_calls),
    Variant("edit_test_oscillation", (LOOP,), edit_test_oscillation),
    Variant("same_error_after_each_edit", (LOOP,), same_error_after_each_edit),
    Variant("rereading_unchanged", (LOOP,), rereading_unchanged),
    Variant("repeated_text", (LOOP,), repeated_text),
    Variant("loop_that_ends", (LOOP,), loop_that_ends),
)
