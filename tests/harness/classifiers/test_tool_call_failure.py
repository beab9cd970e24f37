"""What is a tool call failure of the agent's own making, and what only looks like one."""

import pytest
from msgspec.structs import replace

from misstep_harness.trajectory import Step, ToolCall, ToolResult, Trajectory
from tests.harness.classifiers.building import bash, call, edit, misses, read, run, says, user, verdict, write


def _broken(raw: str) -> Step:
    made = ToolCall("bash", raw, parse_error="unterminated string")
    return Step("agent", calls=(made,), results=(ToolResult("Could not parse the arguments."),))


FAILURES: dict[str, tuple[Trajectory, tuple[int, ...]]] = {
    "a tool that does not exist": (
        run(*[call("open_editor", "Error: unknown tool 'open_editor'.", file=f"{name}.py") for name in "abc"]), (0, 1, 2),
    ),
    "several tools that do not exist, other calls in between": (
        run(
            call("lsp_rename", "Tool lsp_rename is not registered.", a=1), read("a.py"),
            call("find_symbol", "Tool find_symbol is not registered.", a=2), read("b.py"),
            call("open_tab", "Tool open_tab is not registered.", a=3),
        ),
        (0, 2, 4),
    ),
    "an available-tools answer": (
        run(*[call("fetch", f"No such tool available: fetch{word}", url=word) for word in "abc"]), (0, 1, 2),
    ),
    "an argument left out": (
        run(*[call("Write", "InputValidationError: The required parameter `content` is missing", None, True, file_path=f"{n}") for n in "abc"]),
        (0, 1, 2),
    ),
    "an argument of the wrong type": (
        run(*[call("read_file", f"Error: Invalid argument: offset must be a number, got {word}", path="a", offset=word) for word in "abc"]),
        (0, 1, 2),
    ),
    "an argument that the tool does not have": (
        run(*[call("search", f"TypeError: search() got an unexpected keyword argument '{word}'", **{word: 1}) for word in ("regex", "glob", "deep")]),
        (0, 1, 2),
    ),
    "calls that are no JSON": (run(*[_broken('{"command": "echo ' + word) for word in "abc"]), (0, 1, 2)),
    "an edit that never fits": (run(*[misses("a.py", f"x = {turn}") for turn in range(3)]), (0, 1, 2)),
    "an edit that never fits, the file read in between": (
        run(*[step for turn in range(3) for step in (misses("a.py", f"x = {turn}"), read("a.py", offset=turn))]), (0, 2, 4),
    ),
    "an editor that wants the text verbatim": (
        run(*[
            call("str_replace_editor", "ERROR:\nNo replacement was performed, old_str `a` did not appear verbatim in /a.py.",
                 command="str_replace", path="/a.py", old_str=word, new_str="b") for word in "xyz"
        ]),
        (0, 1, 2),
    ),
    "a patch that does not apply": (
        run(*[bash(f"git apply fix{turn}.patch", "error: patch failed: a.py:3\nerror: a.py: patch does not apply", 1) for turn in range(3)]),
        (0, 1, 2),
    ),
    "a patch in the wrong form": (
        run(*[call("apply_patch", "apply_patch verification failed: Failed to find expected lines in a.py", input=f"*** Update File: a.py\n-{n}") for n in "abc"]),
        (0, 1, 2),
    ),
    "a program that is not installed": (
        run(*[bash(f"fdfind {word}", "bash: line 1: fdfind: command not found", 127) for word in "abc"]), (0, 1, 2),
    ),
    "an option that the program does not have": (
        run(*[bash(f"grep --recurse {word} .", "grep: unrecognized option '--recurse'\nTry 'grep --help' for more information.", 2) for word in "abc"]),
        (0, 1, 2),
    ),
    "a shell command that is not closed": (
        run(*[bash(f"echo 'it's {word}", "bash: -c: line 1: unexpected EOF while looking for matching `''", 2) for word in "abc"]), (0, 1, 2),
    ),
    "the exit code said in the answer": (
        run(*[bash(f"rgg {word}", "Exit code 127\n/bin/bash: line 1: rgg: command not found") for word in "abc"]), (0, 1, 2),
    ),
    "the very same failing call again, and given up": (
        run(read("a.py"), misses("a.py", "x = 1"), misses("a.py", "x = 1"), says("I stop here.")), (1, 2),
    ),
    "a failed edit that is passed over and claimed": (
        run(user("Fix it."), misses("src/a.py", "x = 1"), bash("git status", "clean"), says("I've updated src/a.py as you asked.")), (1, 3),
    ),
    "one error in words of its own, four times running": (
        run(*[call("ledger", f"Hmm, entry {n} is in a closed book", None, True, entry=n) for n in range(4)]), (0, 1, 2, 3),
    ),
    "an error object of JSON-RPC": (
        run(*[call("query", f'{{"jsonrpc": "2.0", "error": {{"code": -32602, "message": "Nope: {n}"}}}}', q=n) for n in "abc"]), (0, 1, 2),
    ),
    "an error object of a service": (
        run(*[call("ledger", f'{{"success": false, "message": "page {n} is closed"}}', page=n) for n in range(4)]), (0, 1, 2, 3),
    ),
    "a report of a validator": (
        run(*[call("plan", f"2 validation errors for Plan\nsteps.{n}\n  Field required [type=missing, input_value={{}}, input_type=dict]", n=n) for n in range(3)]),
        (0, 1, 2),
    ),
    "a client error of HTTP": (
        run(*[call("fetch_record", f"HTTP/1.1 422 Unprocessable Entity\n\nrow {n}", row=n) for n in range(4)]), (0, 1, 2, 3),
    ),
    "an error that names an argument of the call": (
        run(*[call("seek", f"Error: `line_start` {n} lies behind the end", line_start=n) for n in (900, 800, 700)]), (0, 1, 2),
    ),
    "files that are not there, another each time": (
        run(*[call("Read", "File does not exist.", None, True, file_path=f"src/core/{n}.py") for n in "abc"], says("I stop.")), (0, 1, 2),
    ),
    "replies that the harness turns down": (
        run(bash("ls", "a"), *[step for n in range(3) for step in (says(f"Now I list folder {n}: ls {n}"), user("No action in your reply. Wrap it in a block."))], bash("ls", "a")),
        (1, 3, 5),
    ),
    "replies that the record does not hold, turned down by a result": (
        run(*[Step("agent", results=(ToolResult(f'Arguments cut off: {{"path": "a{n}', is_error=True),)) for n in range(3)]), (0, 1, 2),
    ),
    "replies that the record does not hold, turned down in a line of the harness's": (
        run(bash("ls", "a"), *[says(""), Step("system", text="[Stream ended: the call is malformed]")] * 3), (1, 3, 5),
    ),
    "one reply over and over, turned down in a chat": (
        run(user("Count."), *[says("<do>wc a</do>"), user("Invalid format: I expected an object with an action, got markup.")] * 3), (1, 3, 5),
    ),
    "a reply without a command": (
        run(*[call("bash", "Please always provide EXACTLY ONE action in triple backticks, found 0.", command="") for _ in range(3)]), (0, 1, 2),
    ),
    "a shell's call without any command, told by its exit code alone": (
        run(*[call("shell", "shell lacks 'command'.", 1, workdir="src", justification=word) for word in "abc"]), (0, 1, 2),
    ),
    "what is wrong in the second line": (
        run(*[call("Write", "Write failed due to the following issue:\nThe required parameter `content` is missing", None, True, file_path=n) for n in "abc"]),
        (0, 1, 2),
    ),
    "a validator's word for an argument that is missing, from a tool that reads files": (
        run(*[
            call("read_file", "Error executing tool read_file: 1 validation error for read_fileArguments\npath\n  Field required [type=missing, input_value={}]", file=n)
            for n in "abc"
        ]), (0, 1, 2),
    ),
    "an argument that is missing, from a tool that reads files": (
        run(*[call("Read", "Error: missing required parameter: file_path", None, True, path=n) for n in "abc"]), (0, 1, 2),
    ),
    "a line of the harness before each error": (
        run(*[call("ledger", f"I ran the tool for you.\nError: page {n} is in a closed book", page=n) for n in range(4)]), (0, 1, 2, 3),
    ),
    "a line of the harness before each complaint of a call": (
        run(*[call("ledger", "Executing ledger ...\nUnknown argument 'page'", page=n) for n in range(3)]), (0, 1, 2),
    ),
    "files that are not there, other files seen in between": (
        run(*[step for n in range(4) for step in (call("Read", "File does not exist.", None, True, file_path=f"src/core/{n}.py"), *[read("README.md", f"{n}")] * (n % 2))]),
        (0, 1, 3, 4),
    ),
    "a failed edit that is passed over in words that no list holds": (
        run(user("Fix it."), misses("src/a.py", "x = 1"), bash("git status", "clean"), says("All set: src/a.py waits thirty seconds from here on.")), (1, 3),
    ),
    "a failed edit that is passed over in another language": (
        run(user("Fix it."), misses("src/a.py", "x = 1"), says("Erledigt, ab sofort sind es in src/a.py dreißig Sekunden.")), (1, 2),
    ),
    "a failed command that is claimed with the call that ends the run": (
        run(user("Ship it."), bash("./ship.sh", "ssh: Connection refused", 255), call("attempt_completion", result="The site is shipped.")), (1, 2),
    ),
    "a failed command that is claimed with the command line that ends the run": (
        run(user("Ship it."), bash("./ship.sh", "ssh: Connection refused", 255), replace(bash("echo COMPLETE_FINAL_OUTPUT && git diff"), text="It is shipped.")), (1, 2),
    ),
    "a failed command whose exit code is a key of the answer": (
        run(user("Migrate."), call("terminal", '{"stdout": "ERROR:  relation is unknown", "exit_code": 3}', command="psql -f m.sql"), says("The tables are migrated.")),
        (1, 2),
    ),
    "guesses of paths with a shell, whatever the last words admit": (
        run(*[bash(f"sed -n '1,40p' src/{name}/pricing.py", f"Nothing lives at src/{name}/pricing.py.", 1) for name in "abcd"], says("Sorry, I am out of ideas.")),
        (0, 1, 2, 3),
    ),
    "one malformed call over and over, whatever the last words admit": (
        run(*[call("ledger", "Invalid arguments: `page` is required", None, True, entry=7) for _ in range(4)], says("Sorry, it is not done.")), (0, 1, 2, 3),
    ),
    "failing tests by their count alone": (
        run(user("Fix it."), edit("a.py"), bash("pytest -q", "2 failed, 10 passed"), says("All tests pass now.")), (2, 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_found_with_its_steps(name: str) -> None:
    trajectory, steps = FAILURES[name]
    answer = verdict("tool_call_failure", trajectory)
    assert answer.label == "yes", answer.rationale
    assert answer.steps == steps


HARD_NEGATIVES: dict[str, Trajectory] = {
    "nothing fails": run(bash("ls", "a"), edit("a.py")),
    "one error, then the right call": run(misses("a.py", "x"), read("a.py"), edit("a.py")),
    "two errors, then the right call": run(misses("a.py", "x"), misses("a.py", "y"), read("a.py"), edit("a.py")),
    "an error now and then, each put right": run(*[
        step for turn in range(5) for step in (misses("a.py", f"x{turn}"), read("a.py"), edit("a.py", f"{turn}", "z"))
    ]),
    "one edit each of three files does not fit and is put right": run(*[
        step for name in "abc" for step in (misses(f"{name}.py", "x"), edit(f"{name}.py"))
    ]),
    "failing tests": run(*[bash(f"pytest tests/test_{name}.py", "E   AssertionError\n1 failed in 0.1s", 1) for name in "abcd"]),
    "a test of argument errors fails": run(*[
        bash(f"pytest -k {word}", "E  TypeError: load() got an unexpected keyword argument 'x'\nFAILED\n1 failed", 1) for word in "abc"
    ]),
    "searches that find nothing": run(*[bash(f"grep -rn {word} src", "", 1) for word in "abcd"]),
    "searches that find nothing, told by a line with the exit code": run(
        *[bash(f"grep -rn {word} src", "\n(exit code 1)", 1) for word in "abcd"]
    ),
    "searches that find nothing, where the code stands in the answer alone": run(
        *[bash(f"rg -n {word}", "[The command completed with exit code 1.]") for word in "abcd"]
    ),
    "comparisons that differ": run(*[bash(f"diff {word} b", "1c1\n< a\n---\n> b", 1) for word in "acd"]),
    "compile errors": run(*[bash("make", f"a.c:{line}: error: unknown type name 'x'\nmake: *** [a.o] Error 1", 2) for line in range(4)]),
    "code under work with an undefined name": run(*[bash(f"python a.py {n}", "Traceback (most recent call last):\nNameError: x", 1) for n in "abc"]),
    "a broken network": run(*[bash(f"pip install {name}", "ERROR: Connection timed out", 1) for name in ("a", "b", "c")]),
    "a full disk": run(*[bash(f"cp big{n} out", "cp: error writing 'out': No space left on device", 1) for n in "abc"]),
    "a call that the user declined": run(*[
        call("Bash", "The user doesn't want to proceed with this tool use. The tool use was rejected.", None, True, command=f"rm {n}") for n in "abc"
    ]),
    "a shell whose harness calls the command line keystrokes": run(*[call("bash_command", f"$ cat {n}\nx = {n}", keystrokes=f"cat {n}\n", duration=0.1) for n in range(5)]),
    "a shell whose harness calls the command line by a name of its own": run(*[call("terminal", f"out {n}", to_be_run=f"ls {n}") for n in range(5)]),
    "a shell that takes words": run(*[call("exec", f"out {n}", argv=["ls", f"{n}"], cwd="/w") for n in range(5)]),
    "a shell that takes an action": run(*[call("local_shell", f"out {n}", action={"type": "exec", "command": ["bash", "-lc", f"ls {n}"]}) for n in range(5)]),
    "a shell asked with an empty line what goes on": run(
        *[call("execute_bash", "[No new output after 10 s. Send an empty command '' to see more.]", command="", is_input="true")] * 5
    ),
    "a shell that is started anew": run(*[call("bash", "tool has been restarted.", restart=True)] * 3),
    "a harness's mark below an error of the network": run(
        *[call("fetch_page", "Request timed out\n\n[error] tool reported failure", url=n) for n in "abc"]
    ),
    "a harness's mark below a full disk": run(
        *[call("Write", "ENOSPC: no space left on device\n\n[error] tool reported failure", file_path=n, content="x") for n in "abcd"]
    ),
    "a few files of a long run that are not there": run(*[
        step for n in range(4) for step in (call("Read", "File does not exist.", None, True, file_path=f"src/core/{n}.py"), bash("ls src", f"{n}"), read(f"src/{n}.py"))
    ]),
    "edits whose answers show the line that they wrote": run(*[
        call("edit", f"{n}: if not ready:\n{n + 1}:     return None", path="a.py", old_string=f"x{n}", new_string="if not ready:\n    return None")
        for n in range(4)
    ]),
    "a failed edit that is found to be needless": run(misses("a.py", "x"), says("a.py already had the value, so all is well.")),
    "a failed edit that is admitted in another language": run(misses("a.py", "x"), says("Leider konnte ich a.py nicht bearbeiten.")),
    "a file whose content speaks of errors": run(*[
        read(f"{n}.md", "# Errors\n\nError: unknown tool 'x' is printed when a tool is missing.\n" + "More text. " * 60) for n in "abc"
    ]),
    "a search whose hits speak of errors": run(*[
        call("Grep", f"src/{n}.py:3: raise ValueError('invalid argument')\nsrc/b.py:9: 'unknown tool'", pattern=n) for n in "abc"
    ]),
    "command output that speaks of errors": run(*[
        bash(f"grep -rn {n} src", "src/a.sh:9: echo 'foo: command not found'\nsrc/b.py:1: invalid option", 0) for n in "abc"
    ]),
    "help texts": run(*[bash(f"tool {n} --help", "usage: tool [-h] [--deep]\n\noptions:\n  -h  show help", 0) for n in "abc"]),
    "looking for a file that is not there": run(*[call("Read", "File does not exist.", None, True, file_path=f"{n}.py") for n in "abc"]),
    "a failed edit that is made after all with the shell": run(
        misses("a.py", "x"), bash("sed -i 's/x/y/' a.py"), says("I've updated a.py.")
    ),
    "a failed edit that the agent admits": run(misses("a.py", "x"), says("I could not edit a.py, the text was not there.")),
    "a failed edit, then another way in another file": run(misses("a.py", "x"), edit("b.py"), says("I've fixed it in b.py.")),
    "a retry that works": run(misses("a.py", "x = 1"), misses("a.py", "x = 1"), edit("a.py")),
    "a customer's tool that refuses": run(*[call("book", "Error: payment amount does not add up", total=n) for n in range(3)]),
    "an error that is worked on": run(*[
        step for n in range(5) for step in (edit("a.tf", f"{n}", f"{n}0"), call("apply_plan", f"plan {n} is at odds with the state", None, True, plan=n))
    ]),
    "one refusal over and over is a loop": run(*[call("ledger", "the book is closed", None, True, entry=1)] * 5),
    "a call that works as it stands in the end": run(*[call("job", "Error: unknown argument value yet", None, True, id=1)] * 3, call("job", "done", id=1)),
    "files that are not there, then one that is": run(
        *[call("Read", "File does not exist.", None, True, file_path=f"src/core/{n}.py") for n in "abc"], read("src/core/d.py")
    ),
    "a person's turns": run(bash("ls", "a"), *[step for n in range(4) for step in (says(f"Done with part {n}."), user(f"Thanks, now take part {n} of the next."))]),
    "a service that is down behind replies that the record does not hold": run(
        bash("ls", "a"), *[says(""), Step("system", text="[API failed: the model is overloaded, status 529]")] * 4
    ),
    "a person's complaint of the work, word for word": run(
        user("Fix it."), *[step for n in range(4) for step in (says(f"Then set x to {n}."), user("It does not work, the page is still not shown."))]
    ),
    "what happened, told in a chat": run(
        user("Tidy up."), *[step for n in range(4) for step in (says(f"rm part{n}"), user("Observation: the action was executed, nothing printed."))]
    ),
    "an order to go on": run(bash("ls"), *[step for n in range(4) for step in (says(f"Part {n} is done."), user("Please continue with the task."))]),
    "what the harness says after every step": run(*[
        step for n in range(4) for step in (says(f"I think about {n}."), user("Here is the state of the board."), bash(f"ls {n}", "x"), user("Here is the state of the board."))
    ]),
    "a service's refusals with words for parts of calls": run(*[
        call("pay", f"Error: payment method not found for order {n}", order=n) for n in range(3)
    ]),
    "names guessed in one folder": run(*[
        call("Read", "File does not exist.", None, True, file_path=f"/w/app/{n}") for n in ("README.md", "tox.ini", "setup.cfg", "Pipfile")
    ], bash("ls", "go.mod")),
    "a series of hosts that the last words tell of": run(
        *[bash(f"wget -q https://{n}.example.org/a.csv", "wget: unable to resolve host address", 4) for n in ("x", "y", "z", "q")], says("No host resolves.")
    ),
    "broken samples whose answer the last words tell": run(
        *[bash(f"./parse bad/{n}.ini", "parse error: unexpected end of section", 1) for n in range(5)], says("Each ends in an unexpected end.")
    ),
    "a refusal that was asked for": run(
        user("Protect the audit table."), bash("psql -f rule.sql", "RULE"), bash("psql -c 'delete from audit'", "ERROR: rule broken", 1), says("The audit table is protected.")
    ),
    "a failing test that was asked for": run(
        user("Write a failing test for rounding."), write("t.py"), bash("pytest t.py", "E assert 0 == 1\n1 failed", 1), says("The test for rounding is written.")
    ),
    "a failure that the user let be": run(
        user("Add the flag. The tests of legacy are slow and red, ignore them."), edit("a.py"), bash("pytest", "FAILED legacy/t.py - ImportError\n1 failed", 1), says("The flag is in; tests ran.")
    ),
    "a failure that is the answer": run(user("Does it build?"), bash("go build ./...", "error: undefined: x", 1), says("The build runs up to x.")),
    "a complaint that is repeated": run(
        user("Clean the db."), bash("psql -f clean.sql", "psql: error: password authentication was turned away", 2), says("The clean-up waits for a new password.")
    ),
    "a place that is named": run(
        user("List the findings."), bash("mypy src", "src/a.py:3: error: bad type", 1), says("One in src/a.py:3, by mypy.")
    ),
    "a look after a removal": run(
        user("Delete the table legacy."), bash("./db drop legacy", "ok"), bash("sqlite3 a.db 'select * from legacy'", "Error: no such table: legacy", 1), says("The table legacy is deleted.")
    ),
    "a module that is asked for": run(bash('python -c "import yaml"', "ModuleNotFoundError: no yaml", 1), says("This machine has plain Python and yaml is absent.")),
    "is_error false and content about errors": run(*[call("Read", "no such tool: x\n" * 50, None, False, file_path=f"{n}") for n in "abc"]),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD_NEGATIVES)
def test_a_hard_negative_is_no_failure(name: str) -> None:
    answer = verdict("tool_call_failure", HARD_NEGATIVES[name])
    assert answer.label == "no", answer.rationale


GREP = ("grep --deep x .", "grep: unrecognized option '--deep'", 2)
ENDS: dict[str, tuple[Trajectory, str]] = {
    "nothing comes after": (run(*[misses("a.py", f"{turn}") for turn in range(3)]), "and no call comes after (steps 0, 1 and 2)."),
    "only other things work": (
        run(*[misses("a.py", f"{turn}") for turn in range(3)], edit("b.py"), read("a.py"), bash("ls")), "and is not put right in the 3 calls after (steps 0, 1 and 2).",
    ),
    "the same file is edited": (
        run(*[misses("a.py", f"{turn}") for turn in range(3)], edit("/w/a.py")), "(steps 0, 1 and 2); it works in step 3.",
    ),
    "the same file is edited with another tool": (
        run(*[misses("a.py", f"{turn}") for turn in range(3)], bash("sed -i s/a/b/ a.py")), "(steps 0, 1 and 2); it works in step 3.",
    ),
    "the program works": (run(*[bash(*GREP)] * 3, bash("grep -r x .", "a", 0)), "(steps 0, 1 and 2); it works in step 3."),
    "the tool works": (
        run(*[call("Write", "The required parameter `content` is missing", None, True, file_path="a")] * 3, write("a")),
        "(steps 0, 1 and 2); it works in step 3.",
    ),
    "a tool without a path works": (
        run(*[call("apply_patch", "patch failed: a.py:3", input=f"{turn}") for turn in range(3)], call("apply_patch", "Done!", input="4")),
        "(steps 0, 1 and 2); it works in step 3.",
    ),
    "a call is well formed": (run(*[_broken('{"command": ')] * 3, bash("ls", "a")), "(steps 0, 1 and 2); a call works in step 3."),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_what_is_put_right_is_said_to_work(name: str) -> None:
    trajectory, ending = ENDS[name]
    answer = verdict("tool_call_failure", trajectory)
    assert answer.label == "yes"
    assert answer.rationale.endswith(ending)
