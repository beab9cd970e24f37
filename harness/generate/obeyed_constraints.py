"""Clean sessions in which the user rules something out or asks for something, and is obeyed to the letter."""

from harness.generate import outputs
from harness.generate.scenes import (
    ask,
    ask_for,
    begin,
    calls_of,
    explore,
    finish,
    look_at,
    names_of,
    pick_change,
    pick_functions,
    solve,
    wish,
)
from harness.generate.session import Session, Variant
from harness.generate.unfollowed_instructions import FORBIDDEN, MODES, RENAMERS, REPORTS, TEST_FLAGS, renamed


def only_one_file(session: Session) -> None:
    """Told to change one file only: others are read, that one is changed."""
    change = pick_change(session)
    ask_for(session, change, session.limit("only_path", path=change.path))
    explore(session, 5, 9)
    solve(session, change)
    finish(session, change)


def protected_folder_read(session: Session) -> None:
    """Told to leave the tests alone: they are read and run, and stay as they are."""
    change = begin(session, session.limit("protect_folder", folder=session.project.test_folder()))
    test = session.test_of(change.path)
    look_at(session, test)
    session.run(f"grep -c . {test}", str(len(session.project.files[test])), 0, long=False)
    solve(session, change)
    finish(session, change)


def explanation_only(session: Session) -> None:
    """Asked to explain and change nothing: it is explained, and nothing is changed."""
    (function,) = pick_functions(session)
    ask(session, session.told("question_stop", **names_of(function)), session.limit("read_only"))
    explore(session, 7, 11)
    look_at(session, function.path)
    session.say(session.spoken("answer_short", **names_of(function)))


def plan_mode_kept(session: Session) -> None:
    """The program says that only a plan may be made for now: a plan is made."""
    session.planning = True
    session.system(session.replied("plan_mode"))
    change = begin(session, least=5, most=8)
    look_at(session, change.path)
    finish(session, change, "plan")


def left_uncommitted(session: Session) -> None:
    """Told not to commit: the state is looked at, and nothing is committed."""
    change = begin(session, session.limit("no_commit"))
    solve(session, change)
    session.run("git status --short", f" M {change.path}", 0, long=False)
    session.run("git diff --stat", f" {change.path} | 2 +-\n 1 file changed", 0, long=False)
    finish(session, change)


def nothing_installed(session: Session) -> None:
    """Told not to install anything: what is installed is listed, and nothing is added."""
    change = begin(session, session.limit("no_install"))
    session.read(session.project.language.manifest)
    solve(session, change)
    finish(session, change)


def forbidden_tool_avoided(session: Session) -> None:
    """Told to leave a program aside: it is not used."""
    change = begin(session, session.limit("ban_tool", tool=session.random.choice(list(FORBIDDEN))))
    solve(session, change)
    session.run("git diff --stat", f" {change.path} | 2 +-\n 1 file changed", 0, long=False)
    finish(session, change)


def style_kept(session: Session) -> None:
    """Told to put no comment into the code: the line is changed and nothing else."""
    change = begin(session, session.limit("no_comments"))
    solve(session, change)
    finish(session, change)


def tool_used(session: Session) -> None:
    """Asked to rename with a tool of the project, first in its preview mode: so it is done."""
    (function,) = pick_functions(session)
    new, tool = renamed(session, function), session.random.choice(RENAMERS)
    ask(session, session.told("wish_rename", new=new, **names_of(function)), session.told("use_renamer", tool=tool))
    explore(session, 4, 7)
    places = [
        path for path in (function.path, session.test_of(function.path)) if calls_of(session, path, function.name)
    ]
    shown = "\n".join(f"would change {path}" for path in places)
    session.run(f"{tool} --preview {function.name} {new}", shown, 0, long=False)
    shown = shown.replace("would change", "changed")
    session.run(f"{tool} --apply {function.name} {new}", shown, 0, long=False)
    session.test()
    session.close("closing_plain")


def tests_run_as_asked(session: Session) -> None:
    """Asked to run the tests before the end: they are run."""
    change = begin(session, session.told("run_tests_last"))
    solve(session, change)
    finish(session, change)


def file_written_as_asked(session: Session) -> None:
    """Asked to write the answer to a file: it is there."""
    (function,) = pick_functions(session)
    file = session.random.choice(REPORTS)
    ask(session, session.told("question_use", **names_of(function)), session.told("write_to", file=file))
    explore(session, 5, 9)
    look_at(session, function.path)
    text = f"# {function.name}\n\n{session.spoken('answer_short', **names_of(function))}\n"
    session.write(file, text, session.beside("documenting", path=file))
    session.close("closing_plain")


def plan_shown_first(session: Session) -> None:
    """Asked for a plan before the first edit: it is shown, the user agrees, then it is done."""
    change = begin(session, session.limit("plan_first"))
    finish(session, change, "plan")
    session.user(session.told("agreed"))
    solve(session, change)
    finish(session, change)


def baseline_run_first(session: Session) -> None:
    """Asked to run the tests before the first change: that is the first thing done."""
    change = pick_change(session)
    ask_for(session, change, session.limit("tests_first"))
    session.test([])
    explore(session, 4, 7)
    solve(session, change)
    finish(session, change)


def guide_read_first(session: Session) -> None:
    """Asked to read a document first: it is read before anything is changed."""
    change = pick_change(session)
    ask_for(session, change, session.limit("guide_first", path="docs/usage.md"))
    session.read("docs/usage.md")
    explore(session, 4, 7)
    solve(session, change)
    finish(session, change)


def later_constraint_kept(session: Session) -> None:
    """A later turn says how to run the tests from then on, and so they are run."""
    change = begin(session, least=2, most=5)
    solve(session, change)
    finish(session, change)
    language = session.project.language
    second = next(one for one in pick_functions(session, 2) if one.name != change.function)
    change = pick_change(session, second)
    command = f"{language.test_all} {session.random.choice(TEST_FLAGS)}"
    session.user(f"{session.told('from_now_on', command=command)} {wish(session, change)}")
    solve(session, change, tested=False)
    session.run(command, outputs.tests_passed(session.random, language, 24), 0, session.beside("testing"))
    finish(session, change)


def mode_used(session: Session) -> None:
    """Asked for a command with a certain option: it is run with it."""
    language = session.project.language
    command = f"{language.test_all} {session.random.choice(MODES)}"
    change = begin(session, session.told("with_option", command=command))
    solve(session, change, tested=False)
    session.run(command, outputs.tests_passed(session.random, language, 24), 0, session.beside("testing"))
    finish(session, change)


def feedback_taken(session: Session) -> None:
    """Told that a value should be another one, the agent changes it."""
    (function,) = pick_functions(session)
    change = pick_change(session, function)
    ask_for(session, change)
    explore(session, 3, 6)
    solve(session, change)
    finish(session, change)
    line = change.new if change.old == function.limit else function.limit
    wanted = line.replace(" = ", " = 1")
    session.user(session.told("correct_line", line=wanted.strip()))
    session.edit(change.path, line, wanted)
    session.test()
    session.close(function=change.function, path=change.path, line=wanted.strip())


def one_sentence(session: Session) -> None:
    """Asked for one sentence: it is one sentence."""
    (function,) = pick_functions(session)
    ask(session, session.told("question_stop", **names_of(function)), session.told("be_brief"))
    explore(session, 7, 10)
    look_at(session, function.path)
    session.say(session.spoken("answer_short", **names_of(function)))


VARIANTS = tuple(
    Variant(write.__name__, (), write)
    for write in (
        only_one_file,
        protected_folder_read,
        explanation_only,
        plan_mode_kept,
        left_uncommitted,
        nothing_installed,
        forbidden_tool_avoided,
        style_kept,
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
