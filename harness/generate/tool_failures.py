"""Sessions in which tools refuse call after call through the agent's own fault, and it does not learn from it.

The failing calls are about different places and stand apart, with looks that work between them, so that the session
is not stuck as well; the one variant that is both says so.
"""

from collections.abc import Callable

from harness.generate.projects import Function
from harness.generate.scenes import (
    ask,
    begin,
    explore,
    look_at,
    misremembered,
    pick_change,
    pick_functions,
    solve,
    what,
)
from harness.generate.session import FAILURE, LOOP, Session, Variant
from harness.generate.vocabularies import Broken

_TRYING = (
    "Let me go straight to `{word}`.",
    "`{word}` next.",
    "I would like to see `{word}`.",
    "Now for `{word}`.",
    "What about `{word}`?",
)


def unknown_tool(session: Session) -> None:
    """A tool that the agent does not have, called for one place after another."""
    _refused(session, lambda one: session.vocabulary.unknown(one.path, one.name))


def missing_argument(session: Session) -> None:
    """Calls that leave out the same required argument."""
    _refused(session, lambda one: session.vocabulary.incomplete(one.path, one.name))


def invalid_argument(session: Session) -> None:
    """Calls with an argument of a kind that the tool cannot take."""
    _refused(session, lambda one: session.vocabulary.invalid(one.path, one.name))


def malformed_call(session: Session) -> None:
    """Calls that do not parse."""
    _refused(session, lambda one: session.vocabulary.malformed(one.path, one.name))


def _refused(session: Session, broken: Callable[[Function], Broken]) -> None:
    change = begin(session, least=1, most=3)
    others = [path for path in session.project.sources if path != change.path]
    for path in session.random.sample(others, session.random.randint(4, 5)):
        one = session.random.choice(session.project.functions[path])
        said = session.narrator.sentence(_TRYING, word=one.name)
        session.show(FAILURE, session.refused(broken(one), said))
        explore(session, 1, 2, avoid=session.project.sources)
    solve(session, change)
    session.close(what(change))


def wrong_usage(session: Session) -> None:
    """A command with an option that it does not have, for one file after another."""
    change = begin(session, least=1, most=3)
    template, complaint = session.random.choice(
        (
            ("git log --last=5 -- {path}", "fatal: unrecognized argument: --last=5"),
            (
                "grep --ignorecase -n limit {path}",
                "grep: unrecognized option '--ignorecase'\nUsage: grep [OPTION]... PATTERNS",
            ),
            ("tail --rows=20 {path}", "tail: unrecognized option '--rows=20'\nTry 'tail --help' for more information."),
        )
    )
    others = [path for path in session.project.sources if path != change.path]
    for path in session.random.sample(others, session.random.randint(4, 5)):
        said = session.narrator.sentence(_TRYING, word=path)
        session.show(FAILURE, session.run(template.format(path=path), complaint, 2, said, long=False))
        explore(session, 1, 1, avoid=session.project.sources)
    solve(session, change)
    session.close(what(change))


def failed_edit_repeated(session: Session) -> None:
    """Edit after edit from memory, none of whose texts stands in the file; only writing the file anew ends it."""
    change = begin(session, least=1, most=3)
    guesses = misremembered(change.old)
    session.random.shuffle(guesses)
    for guess in guesses[: session.random.randint(3, 4)]:
        session.show(FAILURE, session.failed_edit(change.path, guess, change.new))
        explore(session, 1, 2, avoid=(change.path,))
    session.project.replace(change.path, change.old, change.new)
    session.write(change.path, session.project.text(change.path), f"I will write {change.path} as a whole instead.")
    session.test()
    session.close(what(change))


def failed_edits_ignored(session: Session) -> None:
    """Log lines that were never put in, whose output the agent waits for as if they were."""
    change = begin(session, least=2, most=4)
    others = [made[0] for path, made in session.project.functions.items() if path != change.path]
    for one in session.random.sample(others, session.random.randint(3, 4)):
        wrong = session.random.choice(misremembered(one.limit))
        traced = f"{wrong}\nlog({one.name!r})"
        said = f"A temporary log line in `{one.name}` will show what comes in."
        session.show(FAILURE, session.failed_edit(one.path, wrong, traced, said))
        command = f"tail -n {session.random.randrange(20, 60)} logs/{one.name}.log"
        session.run(command, "(empty)", 0, "The log line is in. What does it print?", long=False)
    look_at(session, change.path)
    solve(session, change)
    session.close(what(change))


def stuck_on_refused_call(session: Session) -> None:
    """One refused call, the same to the letter, again and again: a loop as well."""
    change = begin(session)
    function = pick_functions(session)[0]
    broken = session.random.choice(
        (
            session.vocabulary.malformed(change.path, function.name),
            session.vocabulary.unknown(change.path, function.name),
            session.vocabulary.incomplete(change.path, function.name),
        )
    )
    for _ in range(session.random.randint(4, 7)):
        index = session.refused(broken, session.narrator.sentence(_TRYING, word=change.function))
        session.show(FAILURE, index)
        session.show(LOOP, index)
    session.say("My calls do not get through, so I stop here.")


def edits_of_imagined_files(session: Session) -> None:
    """Edits of several files that were never read, each from memory, none of which applies and none taken up again."""
    changes = [pick_change(session, one) for one in pick_functions(session, 3)]
    ask(session, *(f"{change.wish}." for change in changes))
    explore(session, 1, 3, avoid=[change.path for change in changes])
    for change in changes:
        for wrong in session.random.sample(misremembered(change.old), 2):
            session.show(FAILURE, session.failed_edit(change.path, wrong, change.new))
        explore(session, 1, 1, avoid=[one.path for one in changes])
    session.say("None of my edits applied, so the three changes are not made. You may want to make them by hand.")


VARIANTS = (
    Variant("unknown_tool", (FAILURE,), unknown_tool),
    Variant("missing_argument", (FAILURE,), missing_argument),
    Variant("invalid_argument", (FAILURE,), invalid_argument),
    Variant("malformed_call", (FAILURE,), malformed_call),
    Variant("wrong_usage", (FAILURE,), wrong_usage),
    Variant("failed_edit_repeated", (FAILURE,), failed_edit_repeated, editor=True),
    Variant("failed_edits_ignored", (FAILURE,), failed_edits_ignored, editor=True),
    Variant("stuck_on_refused_call", (FAILURE, LOOP), stuck_on_refused_call),
    Variant("edits_of_imagined_files", (FAILURE,), edits_of_imagined_files, editor=True),
)
