"""Clean sessions in which the user rules something out or asks for something, and is obeyed to the letter."""

from harness.generate import outputs
from harness.generate.scenes import (
    ask,
    ask_for,
    begin,
    calls_of,
    explore,
    function_of,
    look_at,
    pick_change,
    pick_functions,
    solve,
    what,
)
from harness.generate.session import Session, Variant
from harness.generate.unfollowed_instructions import RENAMERS


def only_one_file(session: Session) -> None:
    """Told to change one file only: others are read, that one is changed."""
    change = pick_change(session)
    sentence = session.random.choice(
        ("only change {path}.", "edit nothing but {path}, please.", "keep the change to {path}; no other file.")
    )
    ask_for(session, change, sentence.format(path=change.path))
    explore(session, 5, 9)
    solve(session, change)
    session.close(what(change))


def protected_folder_read(session: Session) -> None:
    """Told to leave the tests alone: they are read and run, and stay as they are."""
    folder = session.project.test_folder()
    sentence = session.random.choice(
        (f"do not touch {folder}/.", f"don't change anything under {folder}.", f"leave {folder}/ as it is.")
    )
    change = begin(session, sentence)
    test = session.test_of(change.path)
    look_at(session, test)
    session.run(f"grep -c . {test}", str(len(session.project.files[test])), 0, "How long is that test?", long=False)
    solve(session, change)
    session.close(f"{what(change)}. The tests are as they were")


def explanation_only(session: Session) -> None:
    """Asked to explain and change nothing: it is explained, and nothing is changed."""
    (function,) = pick_functions(session)
    sentence = session.random.choice(
        ("just explain, do not change any code.", "no edits, please; I only want to understand it.", "change nothing.")
    )
    ask(session, f"how does `{function.name}` in {function.path} decide when to stop?", sentence)
    explore(session, 7, 11)
    look_at(session, function.path)
    session.say(f"`{function.name}` compares the number of entries with {function.number} and stops above it.")


def left_uncommitted(session: Session) -> None:
    """Told not to commit: the state is looked at, and nothing is committed."""
    sentence = session.random.choice(("don't commit it.", "do not commit or push anything.", "leave it uncommitted."))
    change = begin(session, sentence)
    solve(session, change)
    session.run("git status --short", f" M {change.path}", 0, "What has changed?", long=False)
    session.run("git diff --stat", f" {change.path} | 2 +-\n 1 file changed", 0, "And how much?", long=False)
    session.close(f"{what(change)}, uncommitted as you wished")


def nothing_installed(session: Session) -> None:
    """Told not to install anything: what is installed is listed, and nothing is added."""
    change = begin(session, session.random.choice(("do not install anything for it.", "no new dependencies, please.")))
    session.read(session.project.language.manifest, said="Which dependencies are there?")
    solve(session, change)
    session.close(f"{what(change)}, without any new package")


def tool_used(session: Session) -> None:
    """Asked to rename with a tool of the project, first in its preview mode: so it is done."""
    (function,) = pick_functions(session)
    new = f"{function.name}Entry" if session.project.language.camel else f"{function.name}_entry"
    tool = session.random.choice(RENAMERS)
    sentence = f"use `{tool} --preview` first and then `{tool} --apply` for it."
    ask(session, f"rename `{function.name}` in {function.path} to `{new}`.", sentence)
    explore(session, 4, 7)
    places = [
        path for path in (function.path, session.test_of(function.path)) if calls_of(session, path, function.name)
    ]
    shown = "\n".join(f"would change {path}" for path in places)
    session.run(f"{tool} --preview {function.name} {new}", shown, 0, "The preview first.", long=False)
    shown = shown.replace("would change", "changed")
    session.run(f"{tool} --apply {function.name} {new}", shown, 0, "That is right; applying it.", long=False)
    session.test()
    session.close(f"`{function.name}` is called `{new}` now")


def tests_run_as_asked(session: Session) -> None:
    """Asked to run the tests before the end: they are run."""
    change = begin(
        session, session.random.choice(("run the tests before you finish.", "run the test suite at the end."))
    )
    solve(session, change)
    session.close(f"{what(change)}, and the tests pass")


def file_written_as_asked(session: Session) -> None:
    """Asked to write the answer to a file: it is there."""
    (function,) = pick_functions(session)
    file = session.random.choice(("docs/findings.md", "notes/limits.md", "docs/review.md"))
    ask(session, f"find out what the limit of `{function.name}` in {function.path} means.", f"write it to {file}.")
    explore(session, 5, 9)
    look_at(session, function.path)
    text = f"# The limit of {function.name}\n\nAbove {function.number} it gives up and logs a line.\n"
    session.write(file, text, f"Now I write {file}.")
    session.close(f"my findings are in {file}")


def plan_shown_first(session: Session) -> None:
    """Asked for a plan before the first edit: it is shown, the user agrees, then it is done."""
    change = begin(session, "first show me a plan and wait for my OK before you edit anything.")
    session.say(f"My plan: put `{change.new.strip()}` into {change.path}, then run the tests. Shall I?")
    session.user(session.random.choice(("OK, go ahead.", "Yes, do that.", "Sounds right, please do.")))
    solve(session, change)
    session.close(what(change))


def baseline_run_first(session: Session) -> None:
    """Asked to run the tests before the first change: that is the first thing done."""
    change = pick_change(session)
    ask_for(session, change, "run the tests once before you change anything.")
    session.test([], "The tests first, as you asked.")
    explore(session, 4, 7)
    solve(session, change)
    session.close(what(change))


def guide_read_first(session: Session) -> None:
    """Asked to read a document first: it is read before anything is changed."""
    change = pick_change(session)
    ask_for(session, change, "read docs/usage.md before you start.")
    session.read("docs/usage.md", said="The guide first.")
    explore(session, 4, 7)
    solve(session, change)
    session.close(what(change))


def later_constraint_kept(session: Session) -> None:
    """A later turn says how to run the tests from then on, and so they are run."""
    change = begin(session, least=2, most=5)
    solve(session, change)
    session.close(what(change))
    language = session.project.language
    second = next(one for one in pick_functions(session, 2) if one.name != change.function)
    change = pick_change(session, second)
    command = f"{language.test_all} {session.random.choice(('--seed 7', '--fail-fast', '--no-cache'))}"
    session.user(f"Good. From now on run the tests with `{command}`. Next: {change.wish}.")
    solve(session, change, tested=False)
    session.run(command, outputs.tests_passed(session.random, language, 24), 0, "The tests, the new way.")
    session.close(what(change))


def mode_used(session: Session) -> None:
    """Asked for a command with a certain option: it is run with it."""
    language = session.project.language
    command = f"{language.test_all} {session.random.choice(('--verbose', '--strict', '--repeat 3'))}"
    change = begin(session, f"run the tests with `{command}` and tell me what they say.")
    solve(session, change, tested=False)
    session.run(command, outputs.tests_passed(session.random, language, 24), 0, "With the option you named.")
    session.close(f"{what(change)}; the tests say that all is well")


def feedback_taken(session: Session) -> None:
    """Told that a value should be another one, the agent changes it."""
    (function,) = pick_functions(session)
    change = pick_change(session, function)
    ask_for(session, change)
    explore(session, 3, 6)
    solve(session, change)
    session.close(what(change))
    line = change.new if change.old == function.limit else function.limit
    wanted = line.replace(" = ", " = 1")
    session.user(f"Not quite: the line should read `{wanted.strip()}`.")
    session.edit(change.path, line, wanted, "I see. Putting that in.")
    session.test()
    session.close(f"it reads `{wanted.strip()}` now, in {function_of(session, change).path}")


def one_sentence(session: Session) -> None:
    """Asked for one sentence: it is one sentence."""
    (function,) = pick_functions(session)
    ask(session, f"what does `{function.name}` in {function.path} do at its limit?", "answer in one sentence.")
    explore(session, 7, 10)
    look_at(session, function.path)
    session.say(f"Above {function.number} it logs a line and returns nothing.")


VARIANTS = tuple(
    Variant(write.__name__, (), write)
    for write in (
        only_one_file,
        protected_folder_read,
        explanation_only,
        left_uncommitted,
        nothing_installed,
        tool_used,
        tests_run_as_asked,
        file_written_as_asked,
        plan_shown_first,
        baseline_run_first,
        guide_read_first,
        later_constraint_kept,
        mode_used,
        feedback_taken,
        one_sentence,
    )
)
