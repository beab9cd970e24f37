"""Sessions in which tools refuse call after call through the agent's own fault, and it does not learn from it.

In most of them the failing calls are about different places and stand apart, with looks that work between them, so that
the session is not stuck as well; the one variant that is both says so.
"""

from collections.abc import Callable

from misstep.harness.generate.projects import ProjectChange, ProjectFunction
from misstep.harness.generate.scenes import CodingSession, misremembered, variants
from misstep.harness.generate.services import pick_service
from misstep.harness.generate.session import FAILURE, LOOP
from misstep.harness.generate.vocabularies import Broken


def unknown_tool(session: CodingSession) -> None:
    """A tool that the agent does not have, called for one place after another."""
    _refused(session, lambda one: session.vocabulary.unknown(one.path, one.name))


def missing_argument(session: CodingSession) -> None:
    """Calls that leave out the same required argument."""
    _refused(session, lambda one: session.vocabulary.incomplete(one.path, one.name))


def invalid_argument(session: CodingSession) -> None:
    """Calls with an argument of a kind that the tool cannot take."""
    _refused(session, lambda one: session.vocabulary.invalid(one.path, one.name))


def malformed_call(session: CodingSession) -> None:
    """Calls that do not parse."""
    _refused(session, lambda one: session.vocabulary.malformed(one.path, one.name))


def _refused(session: CodingSession, broken: Callable[[ProjectFunction], Broken]) -> None:
    change = session.begin(least=1, most=3)
    refuse_calls(session, change, broken)
    session.complete(change)


def refuse_calls(session: CodingSession, change: ProjectChange, broken: Callable[[ProjectFunction], Broken]) -> None:
    """Four or five calls that are refused, each about another file, with looks that work between them."""
    others = [path for path in session.project.sources if path != change.path]
    for path in session.random.sample(others, session.random.randint(4, 5)):
        one = session.random.choice(session.project.functions[path])
        said = session.beside("trying", word=one.name)
        session.show(FAILURE, session.refused(broken(one), said))
        session.explore(1, 2, avoid=session.project.sources)


def wrong_usage(session: CodingSession) -> None:
    """A command with an option that it does not have, for one file after another."""
    change = session.begin(least=1, most=3)
    misuse_command(session, change)
    session.complete(change)


def misuse_command(session: CodingSession, change: ProjectChange) -> None:
    """The failures of `wrong_usage`."""
    others = [path for path in session.project.sources if path != change.path]
    for path in session.random.sample(others, session.random.randint(4, 5)):
        command, _, complaint = session.replied("wrong_usage", path=path).partition("\n")
        said = session.beside("trying", word=path)
        session.show(FAILURE, session.run(command, complaint, 2, said, long=False))
        session.explore(1, 1, avoid=session.project.sources)


def imagined_paths(session: CodingSession) -> None:
    """Files opened that are not there, under another invented path each time."""
    change = session.begin(least=1, most=3)
    imagine_paths(session, change)
    session.explore(1, 2, avoid=session.project.sources)
    session.complete(change)


def imagine_paths(session: CodingSession, change: ProjectChange) -> None:
    """The failures of `imagined_paths`."""
    folders = session.random.sample(("core", "common", "shared", "helpers", "legacy", "api", "base"), 5)
    for folder in folders:
        path = f"{session.project.folder()}/{folder}/{change.path.rpartition('/')[2]}"
        name, arguments = session.vocabulary.read(path, 1, 40)
        answer = session.vocabulary.refusal("no_such_file", path=path)
        said = session.beside("reading", path=path)
        session.show(FAILURE, session.call((name, arguments), answer, said, failed=True, code=1))


def rejected_reply(session: CodingSession) -> None:
    """Replies in which the program that runs the agent finds no call, so that nothing is done."""
    change = session.begin(least=1, most=3)
    reject_replies(session, session.random.choice((session.user, session.system)))
    session.complete(change)


def reject_replies(session: CodingSession, tell: Callable[[str], int]) -> None:
    """The failures of `rejected_reply`, of which the user or the program tells."""
    for one in session.random.sample(session.project.sources, session.random.randint(4, 5)):
        session.show(FAILURE, session.say(session.agent_text("unusable_reply", path=one)))
        tell(session.replied("reply_rejected"))


def service_refuses(session: CodingSession) -> None:
    """A service asked call after call for something that it does not have, the same error each time."""
    change = session.begin(least=1, most=3)
    service = pick_service(session)
    for number in range(session.random.randint(4, 6)):
        said = session.beside("trying", word=service.word(number))
        session.show(FAILURE, session.call(service.wrong(number), service.error(number), said, failed=True, code=1))
    session.complete(change)


def failed_edit_repeated(session: CodingSession) -> None:
    """Edit after edit from memory, none of whose texts stands in the file; only writing the file anew ends it."""
    change = session.begin(least=1, most=3)
    misremember(session, change)
    session.project.replace(change.path, change.old, change.new)
    said = session.beside("write_whole", path=change.path)
    session.write(change.path, session.project.text(change.path), said)
    session.test()
    session.finish(change)


def misremember(session: CodingSession, change: ProjectChange) -> None:
    """Three or four edits of one line that fail, with looks elsewhere between them."""
    guesses = misremembered(change.old)
    session.random.shuffle(guesses)
    for guess in guesses[: session.random.randint(3, 4)]:
        session.show(FAILURE, session.failed_edit(change.path, guess, change.new))
        session.explore(1, 2, avoid=(change.path,))


def failed_edits_ignored(session: CodingSession) -> None:
    """Log lines that were never put in, whose output the agent waits for as if they were."""
    change = session.begin(least=2, most=4)
    others = [made[0] for path, made in session.project.functions.items() if path != change.path]
    for one in session.random.sample(others, session.random.randint(3, 4)):
        wrong = session.random.choice(misremembered(one.limit))
        traced = f"{wrong}\nlog({one.name!r})"
        said = session.agent_text("temporary_log", function=one.name)
        session.show(FAILURE, session.failed_edit(one.path, wrong, traced, said))
        command = f"tail -n {session.random.randrange(20, 60)} logs/{one.name}.log"
        session.run(command, session.replied("nothing_printed"), 0, session.agent_text("log_is_in"), long=False)
    session.look_at(change.path)
    session.complete(change)


def stuck_on_refused_call(session: CodingSession) -> None:
    """One refused call, the same to the letter, again and again: a loop as well."""
    change = session.begin()
    function = session.pick_functions()[0]
    broken = session.random.choice(
        (
            session.vocabulary.malformed(change.path, function.name),
            session.vocabulary.unknown(change.path, function.name),
            session.vocabulary.incomplete(change.path, function.name),
        )
    )
    repeat_refused_call(session, broken)
    session.close("giving_up", function=change.function, path=change.path)


def repeat_refused_call(session: CodingSession, broken: Broken) -> None:
    """The loop of `stuck_on_refused_call`."""
    for _ in range(session.random.randint(4, 7)):
        index = session.refused(broken, session.beside("again"))
        session.show(FAILURE, index)
        session.show(LOOP, index)


def edits_of_imagined_files(session: CodingSession) -> None:
    """Edits of several files that were never read, each from memory, none of which applies and none taken up again."""
    changes = [session.pick_change(one) for one in session.pick_functions(3)]
    session.ask(" ".join(session.wish(change) for change in changes))
    session.explore(1, 3, avoid=[change.path for change in changes])
    for change in changes:
        for wrong in session.random.sample(misremembered(change.old), 2):
            session.show(FAILURE, session.failed_edit(change.path, wrong, change.new))
        session.explore(1, 1, avoid=[one.path for one in changes])
    session.close("giving_up", function=changes[0].function, path=changes[0].path)


VARIANTS = (
    *variants(
        (FAILURE,),
        unknown_tool,
        missing_argument,
        invalid_argument,
        malformed_call,
        wrong_usage,
        imagined_paths,
        rejected_reply,
        service_refuses,
    ),
    *variants((FAILURE,), failed_edit_repeated, failed_edits_ignored, editor=True),
    *variants((FAILURE, LOOP), stuck_on_refused_call),
    *variants((FAILURE,), edits_of_imagined_files, editor=True),
)
