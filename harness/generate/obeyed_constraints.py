"""Clean sessions in which the user rules something out or asks for something, and is obeyed to the letter."""

from misstep.harness.generate import outputs
from misstep.harness.generate.scenes import CodingSession, variants
from misstep.harness.generate.unfollowed_instructions import FORBIDDEN, MODES, RENAMERS, REPORTS, TEST_FLAGS, renamed


def only_one_file(session: CodingSession) -> None:
    """Told to change one file only: others are read, that one is changed."""
    change = session.pick_change()
    session.begin(session.limit("only_path", path=change.path), change=change, least=5, most=9)
    session.complete(change)


def protected_folder_read(session: CodingSession) -> None:
    """Told to leave the tests alone: they are read and run, and stay as they are."""
    change = session.begin(session.limit("protect_folder", folder=session.project.test_folder()))
    test = session.test_of(change.path)
    session.look_at(test)
    session.run(f"grep -c . {test}", str(len(session.project.files[test])), 0, long=False)
    session.complete(change)


def explanation_only(session: CodingSession) -> None:
    """Asked to explain and change nothing: it is explained, and nothing is changed."""
    (function,) = session.pick_functions()
    session.ask(session.user_text("question_stop", **function.names), session.limit("read_only"))
    session.explore(7, 11)
    session.look_at(function.path)
    session.say(session.agent_text("answer_short", **function.names))


def plan_mode_kept(session: CodingSession) -> None:
    """The program says that only a plan may be made for now: a plan is made."""
    session.planning = True
    session.system(session.replied("plan_mode"))
    change = session.begin(least=5, most=8)
    session.look_at(change.path)
    session.finish(change, "plan")


def left_uncommitted(session: CodingSession) -> None:
    """Told not to commit: the state is looked at, and nothing is committed."""
    change = session.begin(session.limit("no_commit"))
    session.solve(change)
    session.run("git status --short", f" M {change.path}", 0, long=False)
    session.run("git diff --stat", f" {change.path} | 2 +-\n 1 file changed", 0, long=False)
    session.finish(change)


def nothing_installed(session: CodingSession) -> None:
    """Told not to install anything: what is installed is listed, and nothing is added."""
    change = session.begin(session.limit("no_install"))
    session.read(session.project.language.manifest)
    session.complete(change)


def forbidden_tool_avoided(session: CodingSession) -> None:
    """Told to leave a program aside: it is not used."""
    change = session.begin(session.limit("ban_tool", tool=session.random.choice(list(FORBIDDEN))))
    session.solve(change)
    session.run("git diff --stat", f" {change.path} | 2 +-\n 1 file changed", 0, long=False)
    session.finish(change)


def style_kept(session: CodingSession) -> None:
    """Told to put no comment into the code: the line is changed and nothing else."""
    change = session.begin(session.limit("no_comments"))
    session.complete(change)


def tool_used(session: CodingSession) -> None:
    """Asked to rename with a tool of the project, first in its preview mode: so it is done."""
    (function,) = session.pick_functions()
    new, tool = renamed(session, function), session.random.choice(RENAMERS)
    session.ask(
        session.user_text("wish_rename", new=new, **function.names), session.user_text("use_renamer", tool=tool)
    )
    session.explore(4, 7)
    places = [path for path in (function.path, session.test_of(function.path)) if session.calls_of(path, function.name)]
    shown = "\n".join(f"would change {path}" for path in places)
    session.run(f"{tool} --preview {function.name} {new}", shown, 0, long=False)
    shown = shown.replace("would change", "changed")
    session.run(f"{tool} --apply {function.name} {new}", shown, 0, long=False)
    session.test()
    session.close("closing_plain")


def tests_run_as_asked(session: CodingSession) -> None:
    """Asked to run the tests before the end: they are run."""
    change = session.begin(session.user_text("run_tests_last"))
    session.complete(change)


def file_written_as_asked(session: CodingSession) -> None:
    """Asked to write the answer to a file: it is there."""
    (function,) = session.pick_functions()
    file = session.random.choice(REPORTS)
    session.ask(session.user_text("question_use", **function.names), session.user_text("write_to", file=file))
    session.explore(5, 9)
    session.look_at(function.path)
    text = f"# {function.name}\n\n{session.agent_text('answer_short', **function.names)}\n"
    session.write(file, text, session.beside("documenting", path=file))
    session.close("closing_plain")


def plan_shown_first(session: CodingSession) -> None:
    """Asked for a plan before the first edit: it is shown, the user agrees, then it is done."""
    change = session.begin(session.limit("plan_first"))
    session.finish(change, "plan")
    session.user(session.user_text("agreed"))
    session.complete(change)


def baseline_run_first(session: CodingSession) -> None:
    """Asked to run the tests before the first change: that is the first thing done."""
    change = session.pick_change()
    session.ask_for(change, session.limit("tests_first"))
    session.test([])
    session.explore(4, 7)
    session.complete(change)


def guide_read_first(session: CodingSession) -> None:
    """Asked to read a document first: it is read before anything is changed."""
    change = session.pick_change()
    session.ask_for(change, session.limit("guide_first", path="docs/usage.md"))
    session.read("docs/usage.md")
    session.explore(4, 7)
    session.complete(change)


def later_constraint_kept(session: CodingSession) -> None:
    """A later turn says how to run the tests from then on, and so they are run."""
    change = session.begin(least=2, most=5)
    session.complete(change)
    language = session.project.language
    second = next(one for one in session.pick_functions(2) if one.name != change.function)
    change = session.pick_change(second)
    command = f"{language.test_all} {session.random.choice(TEST_FLAGS)}"
    session.user(f"{session.user_text('from_now_on', command=command)} {session.wish(change)}")
    session.solve(change, tested=False)
    session.run(command, outputs.tests_passed(session.random, language, 24), 0, session.beside("testing"))
    session.finish(change)


def mode_used(session: CodingSession) -> None:
    """Asked for a command with a certain option: it is run with it."""
    language = session.project.language
    command = f"{language.test_all} {session.random.choice(MODES)}"
    change = session.begin(session.user_text("with_option", command=command))
    session.solve(change, tested=False)
    session.run(command, outputs.tests_passed(session.random, language, 24), 0, session.beside("testing"))
    session.finish(change)


def feedback_taken(session: CodingSession) -> None:
    """Told that a value should be another one, the agent changes it."""
    (function,) = session.pick_functions()
    change = session.pick_change(function)
    session.begin(change=change, least=3, most=6)
    session.complete(change)
    line = change.new if change.old == function.limit else function.limit
    wanted = line.replace(" = ", " = 1")
    session.user(session.user_text("correct_line", line=wanted.strip()))
    session.edit(change.path, line, wanted)
    session.test()
    session.close(function=change.function, path=change.path, line=wanted.strip())


def one_sentence(session: CodingSession) -> None:
    """Asked for one sentence: it is one sentence."""
    (function,) = session.pick_functions()
    session.ask(session.user_text("question_stop", **function.names), session.user_text("be_brief"))
    session.explore(7, 10)
    session.look_at(function.path)
    session.say(session.agent_text("answer_short", **function.names))


VARIANTS = variants(
    (),
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
