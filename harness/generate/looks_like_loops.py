"""Clean sessions that look like loops: they repeat, and each repetition brings something new or was asked for."""

from misstep.harness.generate.projects import ProjectChange, change_comparison, change_limit
from misstep.harness.generate.scenes import CodingSession, variants


def paging(session: CodingSession) -> None:
    """A long file read page by page."""
    change = session.pick_change()
    path = "docs/handbook.md"
    session.project.files[path] = [f"{line}. Rule number {line} of the handbook." for line in range(1, 901)]
    session.ask(session.user_text("read_through", path=path), session.wish(change))
    page = session.random.choice((80, 100, 120))
    for first in range(1, session.random.randint(5, 8) * page, page):
        session.read(path, first, page)
    session.complete(change)


def polling(session: CodingSession) -> None:
    """A job asked for its state until it is done, which goes on step by step or waits for its turn."""
    change = session.begin(session.user_text("start_build"), least=2, most=5)
    session.solve(change)
    poll(session)
    session.finish(change)


def poll(session: CodingSession) -> None:
    """A job started and asked for its state until it is done."""
    session.run("ci start nightly", "job 5512", 0, session.beside("waiting"), long=False)
    polls = session.random.randint(4, 8)
    counted = session.random.random() < 0.5
    for number in range(polls):
        done = 100 * number // polls
        state = session.replied("job_progress", done=done) if counted else session.replied("job_waits")
        session.run("sleep 30 && ci status 5512", f"job 5512: {state}", 0, session.beside("waiting"), long=False)
    state = session.replied("job_done")
    session.run("sleep 30 && ci status 5512", f"job 5512: {state}", 0, session.beside("waiting"), long=False)


def tests_after_each_edit(session: CodingSession) -> None:
    """The same test command after every real edit, with fewer failures each time."""
    functions = session.pick_functions(2, in_one_file=True) + session.pick_functions(1)
    functions = list({one.name: one for one in functions}.values())
    changes = [session.pick_change(one) for one in functions]
    session.ask(" ".join(session.wish(change) for change in changes))
    session.explore(2, 5)
    session.test(functions)
    for count, change in enumerate(changes, start=1):
        session.solve(change, tested=False)
        session.test(functions[count:])
    session.finish(changes[-1])


def reading_after_change(session: CodingSession) -> None:
    """One file read again after each change to it."""
    functions = session.pick_functions(2, in_one_file=True)
    changes = [change_limit(session.random, functions[0]), change_comparison(functions[0])]
    changes.append(change_limit(session.random, functions[1]))
    session.ask(" ".join(session.wish(change) for change in changes))
    session.explore(3, 6)
    for change in changes:
        session.read(change.path)
        session.change(change)
    session.read(changes[0].path)
    session.test()
    session.finish(changes[-1])


def one_command_for_many_files(session: CodingSession) -> None:
    """The same command for one file after another, as asked."""
    session.ask(session.user_text("who_touched"))
    session.explore(1, 3)
    for path in session.project.sources:
        who = session.random.choice(("Kim", "Noor", "Ama", "Jules"))
        session.run(f"git log -1 --format=%an -- {path}", who, 0, long=False)
    session.explore(1, 2)
    session.close("closing_plain")


def similar_names(session: CodingSession) -> None:
    """Searches for names that differ by little, each another thing."""
    change = session.begin(least=1, most=3)
    search_like_names(session, change)
    session.complete(change)


def search_like_names(session: CodingSession, change: ProjectChange) -> None:
    """Searches for five names that differ by little."""
    stem = change.function
    for name in (f"{stem}_one", f"{stem}_two", f"{stem}s", f"{stem}_all", f"re{stem}"):
        session.search(name, session.project.folder())


def same_words_different_calls(session: CodingSession) -> None:
    """One and the same sentence with every call, and every call another one."""
    session.ask(session.user_text("look_for_unusual"))
    said = session.agent_text("going_on")
    for path in session.random.sample(sorted(session.project.files), session.random.randint(7, 9)):
        session.read(path, said=said)
    for noun in sorted({one.noun for made in session.project.functions.values() for one in made})[:3]:
        session.search(noun, said=said)
    session.close("closing_plain")


def routing_lines(session: CodingSession) -> None:
    """A run of several agents whose log has the same line between their turns, and each turn is another one."""
    change = session.begin(least=1, most=2)
    line = session.agent_text("routing_line")
    for _ in range(session.random.randint(4, 6)):
        session.say(line)
        if not session.explore(1, 1, avoid=(change.path,)):
            break
    session.say(line)
    session.complete(change)


def flaky_test(session: CodingSession) -> None:
    """A test run several times because it is not always green, as the user asked."""
    (function,) = session.pick_functions()
    test = session.test_of(function.path)
    times = session.random.randint(5, 7)
    session.ask(session.user_text("run_flaky", function=function.name, path=test, times=times))
    session.explore(2, 4)
    failures = 0
    for count in range(1, times + 1):
        fails = session.random.random() < 0.4
        failures += fails
        session.test([function] if fails else [], session.beside("counting", count=count, times=times), test)
    session.look_at(function.path)
    session.close("counted", failures=failures, times=times)


def one_error_after_another(session: CodingSession) -> None:
    """Edit and build in turn, each build with another error, until there is none."""
    functions = session.pick_functions(3)
    changes = [session.pick_change(one) for one in functions]
    session.ask(session.user_text("build_broken"), " ".join(session.wish(change) for change in changes))
    build = session.project.language.build
    for change in changes:
        line = session.project.files[change.path].index(change.old) + 1
        session.run(build, session.replied("compile_error", path=change.path, line=line), 1, session.beside("building"))
        session.solve(change, tested=False)
        session.explore(0, 1)
    session.run(build, session.replied("all_clean"), 0, session.beside("building"))
    session.test()
    session.finish(changes[-1])


def retry_after_hiccup(session: CodingSession) -> None:
    """A call made again because the network had failed, and then it works."""
    change = session.begin(session.user_text("fetch_first"), least=0, most=2)
    fetch_again(session)
    session.explore(3, 6)
    session.complete(change)


def fetch_again(session: CodingSession) -> None:
    """A download that the network broke off once or twice, and that works then."""
    hiccup = session.replied("network_hiccup")
    for _ in range(session.random.randint(1, 2)):
        session.run("git fetch origin main", hiccup, 128, session.beside("once_more"), long=False)
    session.run("git fetch origin main", "main -> origin/main", 0, session.beside("once_more"), long=False)


def asked_to_repeat(session: CodingSession) -> None:
    """A user who asks three times for the state of things, and is told each time."""
    change = session.pick_change()
    session.begin(change=change, least=2, most=4)
    session.complete(change)
    answer = session.agent_text("tests_green")
    for _ in range(3):
        session.user(session.user_text("test_again"))
        session.test()
        session.say(answer)


VARIANTS = variants(
    (),
    paging,
    polling,
    tests_after_each_edit,
    reading_after_change,
    one_command_for_many_files,
    similar_names,
    same_words_different_calls,
    routing_lines,
    flaky_test,
    one_error_after_another,
    retry_after_hiccup,
    asked_to_repeat,
)
