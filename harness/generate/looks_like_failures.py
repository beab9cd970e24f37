"""Clean sessions in which calls fail: once and corrected, through no fault of the agent, or as part of the work."""

from misstep.harness.generate import outputs
from misstep.harness.generate.projects import ProjectChange
from misstep.harness.generate.scenes import CodingSession, misremembered, variants
from misstep.harness.generate.services import pick_service


def failed_edit_corrected(session: CodingSession) -> None:
    """One edit that fails, the file read again, and the edit made right."""
    change = session.begin()
    session.failed_edit(change.path, session.random.choice(misremembered(change.old)), change.new)
    session.read(change.path, said=session.beside("reading_anew", path=change.path))
    session.change(change)
    session.test()
    session.finish(change)


def mistake_corrected(session: CodingSession) -> None:
    """One call that lacks an argument or does not parse, made right at the next try."""
    change = session.begin()
    correct_mistake(session, change)
    session.complete(change)


def correct_mistake(session: CodingSession, change: ProjectChange) -> None:
    """A search that is refused once, and made right at the next try."""
    make = session.random.choice((session.vocabulary.incomplete, session.vocabulary.malformed))
    session.refused(make(change.path, change.function), session.beside("searching", word=change.function))
    session.search(change.function, change.path, session.beside("once_more"))


def query_corrected(session: CodingSession) -> None:
    """Two calls that a service refuses, a look at what it has, and the call made right."""
    change = session.begin(least=1, most=3)
    service = pick_service(session)
    for number in range(2):
        said = session.beside("trying", word=service.word(number))
        session.call(service.wrong(number), service.error(number), said, failed=True, code=1)
    session.call(service.look, service.shown, session.beside("once_more"), code=0)
    session.call(service.right, service.answer, session.beside("once_more"), code=0)
    session.complete(change)


def failing_tests_at_work(session: CodingSession) -> None:
    """Tests that fail until the work is done, with nothing wrong in any call."""
    change = session.begin(least=2, most=5)
    first, second = session.function_of(change), session.pick_functions(1)[0]
    session.test([first] if first == second else [first, second])
    session.look_at(change.path)
    session.test([first], file=session.test_of(change.path))
    session.complete(change)


def searches_without_hits(session: CodingSession) -> None:
    """Searches that find nothing, which is an answer too."""
    change = session.begin(session.user_text("old_names_gone"), least=2, most=4)
    session.solve(change, tested=False)
    for word in session.random.sample(("deprecated_limit", "oldLimit", "LEGACY_LIMIT", "limit_v1", "maxOld"), 4):
        session.search(word)
    session.test()
    session.finish(change)


def no_room_left(session: CodingSession) -> None:
    """A machine whose disk is full, which no call of the agent can help."""
    change = session.begin(least=2, most=5)
    session.solve(change, tested=False)
    language = session.project.language
    full = session.replied("disk_full")
    session.run(language.build, full, 1, session.beside("building"), long=False)
    session.run("df -h .", "Filesystem  Size  Used  Avail  Use%\n/dev/vda1    40G   40G     0  100%", 0)
    session.run("du -sh build", "1.2M\tbuild", 0, long=False)
    session.run(language.test_all, full, 1, session.beside("testing"), long=False)
    session.finish(change, "blocked_by_machine")


def network_down(session: CodingSession) -> None:
    """A machine without network: downloads fail whatever the call."""
    change = session.begin(least=2, most=5)
    for host in ("packages.example", "mirror.example"):
        command = f"curl -sSf https://{host}/index"
        session.run(command, session.replied("no_host", host=host), 6, long=False)
    session.run("ping -c 1 gateway", session.replied("no_host", host="gateway"), 2, long=False)
    session.solve(change)
    session.finish(change, "blocked_by_machine")


def refused_by_user(session: CodingSession) -> None:
    """A call that the user does not allow, after which the agent goes another way."""
    change = session.begin(least=2, most=5)
    session.call(session.vocabulary.run("git fetch --all"), session.replied("declined"), failed=True)
    session.user(session.user_text("work_with_what_is_there"))
    session.complete(change)


def small_slips(session: CodingSession) -> None:
    """Two slips of different kinds over a long session, each put right at once."""
    change = session.begin(least=2, most=4)
    other = next(path for path in session.project.sources if path != change.path)
    wrong = f"{other}.orig"
    answer = session.replied("no_such_file", path=wrong)
    session.run(f"cat {wrong}", answer, 1, session.beside("reading", path=wrong), long=False)
    session.run(f"cat {other}", session.project.text(other), 0, session.beside("once_more"), long=False)
    session.explore(2, 4, avoid=(other,))
    session.run("git log --oneline -3 trunk", session.replied("no_such_branch", branch="trunk"), 128, long=False)
    history = outputs.history(session.random, session.project, 3)
    session.run("git log --oneline -3 main", history, 0, session.beside("once_more"), long=False)
    session.complete(change)


VARIANTS = (
    *variants((), failed_edit_corrected, editor=True),
    *variants(
        (),
        mistake_corrected,
        query_corrected,
        failing_tests_at_work,
        searches_without_hits,
        no_room_left,
        network_down,
        refused_by_user,
        small_slips,
    ),
)
