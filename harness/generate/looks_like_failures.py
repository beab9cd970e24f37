"""Clean sessions in which calls fail: once and corrected, through no fault of the agent, or as part of the work."""

from harness.generate import outputs
from harness.generate.scenes import begin, explore, function_of, look_at, misremembered, pick_functions, solve, what
from harness.generate.session import Session, Variant


def failed_edit_corrected(session: Session) -> None:
    """One edit that fails, the file read again, and the edit made right."""
    change = begin(session)
    session.failed_edit(change.path, session.random.choice(misremembered(change.old)), change.new)
    session.read(change.path, said="The text differs from what I had in mind; reading it again.")
    session.change(change, "Now with the exact text.")
    session.test()
    session.close(what(change))


def mistake_corrected(session: Session) -> None:
    """One call that lacks an argument or does not parse, made right at the next try."""
    change = begin(session)
    make = session.random.choice((session.vocabulary.incomplete, session.vocabulary.malformed))
    session.refused(make(change.path, change.function), f"Looking for `{change.function}` in its file.")
    session.search(change.function, change.path, "My call was not right. Once more, complete.")
    solve(session, change)
    session.close(what(change))


def failing_tests_at_work(session: Session) -> None:
    """Tests that fail until the work is done, with nothing wrong in any call."""
    change = begin(session, least=2, most=5)
    first, second = function_of(session, change), pick_functions(session, 1)[0]
    session.test([first] if first == second else [first, second], "The state before the change.")
    look_at(session, change.path)
    session.test([first], "The one test alone.", session.test_of(change.path))
    solve(session, change)
    session.close(what(change))


def searches_without_hits(session: Session) -> None:
    """Searches that find nothing, which is an answer too."""
    change = begin(session, "make sure that the old names are gone as well.", least=2, most=4)
    solve(session, change, tested=False)
    for word in session.random.sample(("deprecated_limit", "oldLimit", "LEGACY_LIMIT", "limit_v1", "maxOld"), 4):
        session.search(word, said=f"No `{word}` should be left.")
    session.test()
    session.close(f"{what(change)}; none of the old names is left")


def no_room_left(session: Session) -> None:
    """A machine whose disk is full, which no call of the agent can help."""
    change = begin(session, least=2, most=5)
    solve(session, change, tested=False)
    language = session.project.language
    session.run(language.build, "write error: no space left on device", 1, "Building.", long=False)
    session.run(
        "df -h .", "Filesystem  Size  Used  Avail  Use%\n/dev/vda1    40G   40G     0  100%", 0, "Is the disk full?"
    )
    session.run("du -sh build", "1.2M\tbuild", 0, "It is not our own output that fills it.", long=False)
    session.run(
        language.test_all, "cannot create temporary file: no space left on device", 1, "And the tests?", long=False
    )
    session.say(f"{what(change)}. I could not build or test it: the disk of this machine is full.")


def network_down(session: Session) -> None:
    """A machine without network: downloads fail whatever the call."""
    change = begin(session, least=2, most=5)
    for host in ("packages.example", "mirror.example"):
        command = f"curl -sSf https://{host}/index"
        session.run(command, f"curl: (6) could not resolve host: {host}", 6, f"Is {host} there?", long=False)
    answer = "ping: gateway: temporary failure in name resolution"
    session.run("ping -c 1 gateway", answer, 2, "Is there a network at all?", long=False)
    solve(session, change)
    session.close(f"{what(change)}. There is no network here, so I did not look for newer packages")


def refused_by_user(session: Session) -> None:
    """A call that the user does not allow, after which the agent goes another way."""
    change = begin(session, least=2, most=5)
    named = session.vocabulary.run("git fetch --all")
    session.call(named, "The user does not want this command to be run.", "Fetching everything first.", failed=True)
    session.user("No need to fetch, work with what is there.")
    solve(session, change)
    session.close(what(change))


def small_slips(session: Session) -> None:
    """Two slips of different kinds over a long session, each put right at once."""
    change = begin(session, least=2, most=4)
    other = next(path for path in session.project.sources if path != change.path)
    wrong = f"{other}.orig"
    answer = f"cat: {wrong}: No such file or directory"
    session.run(f"cat {wrong}", answer, 1, "There may be an older copy.", long=False)
    session.run(f"cat {other}", session.project.text(other), 0, "No copy, then; the file itself.", long=False)
    explore(session, 2, 4, avoid=(other,))
    answer = "fatal: bad revision 'trunk'"
    session.run("git log --oneline -3 trunk", answer, 128, "What is on the main branch?", long=False)
    history = outputs.history(session.random, session.project, 3)
    session.run("git log --oneline -3 main", history, 0, "The branch is called main.", long=False)
    solve(session, change)
    session.close(what(change))


VARIANTS = (
    Variant("failed_edit_corrected", (), failed_edit_corrected, editor=True),
    *(
        Variant(write.__name__, (), write)
        for write in (
            mistake_corrected,
            failing_tests_at_work,
            searches_without_hits,
            no_room_left,
            network_down,
            refused_by_user,
            small_slips,
        )
    ),
)
