"""Clean sessions that look like loops: they repeat, and each repetition brings something new or was asked for."""

from harness.generate.projects import change_comparison, change_limit
from harness.generate.scenes import (
    ask,
    ask_for,
    begin,
    explore,
    look_at,
    pick_change,
    pick_functions,
    solve,
    what,
)
from harness.generate.session import Session, Variant

_WAITING = (
    "Still at it; I will look again in a moment.",
    "Not yet done.",
    "Progress, but not there yet.",
    "I will wait a little longer.",
    "It goes on.",
    "A bit more patience.",
)


def paging(session: Session) -> None:
    """A long file read page by page."""
    change = pick_change(session)
    path = "docs/handbook.md"
    session.project.files[path] = [f"{line}. Rule number {line} of the handbook." for line in range(1, 901)]
    ask(session, f"go through all of {path} and tell me what it says about limits.", f"then mend this: {change.wish}.")
    page = session.random.choice((80, 100, 120))
    for first in range(1, session.random.randint(5, 8) * page, page):
        session.read(path, first, page, f"Lines {first} and on.")
    solve(session, change)
    session.close(f"the handbook says nothing about limits. {what(change)}")


def polling(session: Session) -> None:
    """A job asked for its state until it is done."""
    change = begin(session, "then start the nightly build and tell me when it is through.", least=2, most=5)
    solve(session, change)
    session.run("ci start nightly", "job 5512 queued", 0, "Starting the build.", long=False)
    for _ in range(session.random.randint(4, 8)):
        share = session.random.choice(("waiting for a machine", "running"))
        said = session.narrator.sentence(_WAITING)
        session.run("sleep 30 && ci status 5512", f"job 5512: {share}", 0, said, long=False)
    session.run("sleep 30 && ci status 5512", "job 5512: finished, all green", 0, "And now?", long=False)
    session.close(f"{what(change)}; the nightly build is through and green")


def tests_after_each_edit(session: Session) -> None:
    """The same test command after every real edit, with fewer failures each time."""
    functions = pick_functions(session, 2, in_one_file=True) + pick_functions(session, 1)
    functions = list({one.name: one for one in functions}.values())
    changes = [pick_change(session, one) for one in functions]
    ask(session, *(f"{change.wish}." for change in changes))
    explore(session, 2, 5)
    session.test(functions)
    for count, change in enumerate(changes, start=1):
        solve(session, change, tested=False)
        session.test(functions[count:])
    session.close("; ".join(what(change) for change in changes))


def reading_after_change(session: Session) -> None:
    """One file read again after each change to it."""
    functions = pick_functions(session, 2, in_one_file=True)
    changes = [change_limit(session.random, functions[0]), change_comparison(session.random, functions[0])]
    changes.append(change_limit(session.random, functions[1]))
    ask(session, *(f"{change.wish}." for change in changes))
    explore(session, 3, 6)
    for change in changes:
        session.read(change.path, said="How does it look at this point?")
        session.change(change)
    session.read(changes[0].path, said="A last look at the result.")
    session.test()
    session.close("all three changes are in")


def one_command_for_many_files(session: Session) -> None:
    """The same command for one file after another, as asked."""
    ask(session, "tell me for each source file who touched it last.", "go through them one by one.")
    explore(session, 1, 3)
    for path in session.project.sources:
        who = session.random.choice(("Kim", "Noor", "Ama", "Jules"))
        said = session.random.choice(("The next one.", "And this one.", "Going on."))
        session.run(f"git log -1 --format=%an -- {path}", who, 0, said, long=False)
    explore(session, 1, 2)
    session.close("that was the last of them, the names stand above")


def similar_names(session: Session) -> None:
    """Searches for names that differ by little, each another thing."""
    change = begin(session, least=1, most=3)
    stem = change.function
    for name in (f"{stem}_one", f"{stem}_two", f"{stem}s", f"{stem}_all", f"re{stem}"):
        session.search(name, session.project.folder(), f"Is there a `{name}`, too?")
    solve(session, change)
    session.close(what(change))


def same_words_different_calls(session: Session) -> None:
    """One and the same sentence with every call, and every call another one."""
    ask(session, "look for anything unusual in the modules and the documents.", "report what you find.")
    said = session.random.choice(("Continuing.", "Let me look further.", "Next."))
    for path in session.random.sample(sorted(session.project.files), session.random.randint(7, 9)):
        session.read(path, said=said)
    for noun in sorted({one.noun for made in session.project.functions.values() for one in made})[:3]:
        session.search(noun, said=said)
    session.close("nothing unusual as far as I can see")


def flaky_test(session: Session) -> None:
    """A test run several times because it is not always green, as the user asked."""
    (function,) = pick_functions(session)
    test = session.test_of(function.path)
    times = session.random.randint(5, 7)
    ask(
        session, f"the test of `{function.name}` is flaky.", f"run {test} {times} times and tell me how often it fails."
    )
    explore(session, 2, 4)
    failures = 0
    for count in range(1, times + 1):
        fails = session.random.random() < 0.4
        failures += fails
        session.test([function] if fails else [], f"Run {count} of {times}.", test)
    look_at(session, function.path)
    session.close(f"{failures} of {times} runs failed")


def one_error_after_another(session: Session) -> None:
    """Edit and build in turn, each build with another error, until there is none."""
    functions = pick_functions(session, 3)
    changes = [pick_change(session, one) for one in functions]
    ask(session, "the build is broken in several places.", *(f"{change.wish}." for change in changes))
    build = session.project.language.build
    for change in changes:
        line = session.project.files[change.path].index(change.old) + 1
        session.run(build, f"{change.path}:{line}: this line is not accepted\n1 error", 1, "What does the build say?")
        solve(session, change, tested=False)
        explore(session, 0, 1)
    session.run(build, "finished without errors", 0, "Once more.")
    session.test()
    session.close("the build is sound again")


def retry_after_hiccup(session: Session) -> None:
    """A call made again because the network had failed, and then it works."""
    change = begin(session, "fetch the latest main before you start.", least=0, most=2)
    hiccup = session.random.choice(
        ("fatal: unable to access the remote: connection timed out", "fetch: the remote end hung up unexpectedly")
    )
    for said in ("Fetching main.", "The network failed; trying again.")[: session.random.randint(1, 2)]:
        session.run("git fetch origin main", hiccup, 128, said, long=False)
    session.run("git fetch origin main", "main -> origin/main", 0, "One more attempt.", long=False)
    explore(session, 3, 6)
    solve(session, change)
    session.close(what(change))


def asked_to_repeat(session: Session) -> None:
    """A user who asks three times for the state of things, and is told each time."""
    change = pick_change(session)
    ask_for(session, change)
    explore(session, 2, 4)
    solve(session, change)
    session.close(what(change))
    for _ in range(3):
        session.user(session.random.choice(("Run the tests again, please.", "And once more?", "Again, please.")))
        session.test()
        session.say("All tests pass.")


VARIANTS = tuple(
    Variant(write.__name__, (), write)
    for write in (
        paging,
        polling,
        tests_after_each_edit,
        reading_after_change,
        one_command_for_many_files,
        similar_names,
        same_words_different_calls,
        flaky_test,
        one_error_after_another,
        retry_after_hiccup,
        asked_to_repeat,
    )
)
