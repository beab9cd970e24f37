"""What is an infinite loop, and what only looks like one."""

import pytest

from misstep_harness.trajectory import Step, ToolCall, ToolResult, Trajectory
from tests.harness.classifiers.building import bash, call, edit, misses, read, run, says, user, verdict, write

FAILS = "E   AssertionError: expected 4, got 7\nFAILED tests/test_a.py::test_total\n1 failed in 0.31s"
TREE = "src/app.py:12: def load_config(path):\nsrc/app.py:40:     load_config(None)\nsrc/cli.py:3: import load_config"

LOOPS: dict[str, tuple[Trajectory, tuple[int, ...]]] = {
    "a file that speaks of quotas and timeouts, read again and again": (
        run(user("Fix it."), *[bash("cat quota.py", "QUOTA = 429\ntimeout = 503\n" * 8, 0)] * 3), (1, 2, 3),
    ),
    "one file by several spellings of its path": (
        run(
            bash("cd /srv/shop && cat src/app.py", TREE), bash("cat ./src/app.py", TREE), bash("cat /srv/shop/src/app.py | cat", TREE),
        ),
        (0, 1, 2),
    ),
    "the same command three times": (run(user("Fix it."), *[bash("grep -rn load src", TREE)] * 3), (1, 2, 3)),
    "the same call without recorded answers, three times in a row": (
        run(user("Fix it."), *[call("get_user", None, id=7)] * 3), (1, 2, 3),
    ),
    "other spaces, quotes and redirections": (
        run(bash('grep -rn "load" src', TREE), bash("grep  -rn 'load' ./src 2>&1", TREE), bash("grep -rn load src/", TREE)),
        (0, 1, 2),
    ),
    "flags that change nothing in the answer": (
        run(bash("grep -rn load src", TREE), bash("grep -rnH load src", TREE), bash("grep -rn --include=*.py load src", TREE)),
        (0, 1, 2),
    ),
    "a description beside the command that differs": (
        run(*[call("Bash", TREE, command="ls -la src", description=f"Look, try {turn}") for turn in range(3)]), (0, 1, 2),
    ),
    "a command given as a list": (run(*[call("shell", TREE, command=["bash", "-lc", "rg load"])] * 3), (0, 1, 2)),
    "a thought of the agent beside the arguments that differs": (
        run(*[call("execute_bash", TREE, command="cat a.py", thought=f"Once more {turn}") for turn in range(3)]), (0, 1, 2),
    ),
    "one command in one wrapping after the other": (
        run(*[bash(line, "src/a.py:3: load") for line in (
            "grep -rn load src", "LC_ALL=C timeout -k 5 60s grep -rn load src", "(sudo -u me nice -n 5 grep -rn load src)", "bash -lc 'time grep -rn load src'",
        )]),
        (0, 1, 2, 3),
    ),
    "one flag after the other, and the same short error": (
        run(*[bash(f"pytest {flag} tests/a", "ERROR: file or directory not found: tests/a", 4) for flag in ("-x", "-v", "-s")]), (0, 1, 2),
    ),
    "answers that differ in the number of the message": (
        run(*[call("query", f'{{"jsonrpc": "2.0", "id": {n}, "result": {{"rows": []}}}}', q="a") for n in (7, 19, 204)]), (0, 1, 2),
    ),
    "answers that differ in durations of JSON": (
        run(*[call("Glob", f'No files found\n\n[metadata] {{"durationMs": {n}, "numFiles": 0}}', pattern="*.x") for n in (156, 9, 12)]), (0, 1, 2),
    ),
    "answers with a head of their own": (
        run(*[
            call("exec_command", f"Chunk ID: {chunk}\nWall time: 0.05{n} seconds\nProcess exited with code 0\nOutput:\nsrc/a.py:3: load", cmd="rg load")
            for n, chunk in enumerate(("a1b2c3", "99ffee", "0b0b0c"))
        ]), (0, 1, 2),
    ),
    "a screen with a clock and a counter": (
        run(*[
            call("bash_command", f"New Terminal Output:\n\n[{n}] 10:0{n}:12 root@c:/# cat a\nhello\n[{n + 1}] 10:0{n}:13 root@c:/#", keystrokes="cat a\n")
            for n in (3, 4, 5)
        ]), (0, 1, 2),
    ),
    "answers that count down the turns that are left": (
        run(*[call("query", f"no rows\n\nREMINDER: you have {n} turns left.", q="a") for n in (9, 8, 7)]), (0, 1, 2),
    ),
    "answers that differ in durations only": (
        run(*[bash("pytest -q", f"1 failed, 3 passed in 0.{turn}1s", 1) for turn in range(4)]), (0, 1, 2, 3),
    ),
    "the same failing edit, the file read in between": (
        run(*[step for _ in range(3) for step in (misses("a.py", "x = 1"), read("a.py"))]), (0, 2, 4),
    ),
    "a file read three times while other files are read": (
        run(read("a.py"), read("b.py", "b"), read("a.py"), bash("ls src", "x"), read("a.py")), (0, 2, 4),
    ),
    "two calls gone round three times": (
        run(*[step for _ in range(3) for step in (bash("python a.py", "boom", 1), bash("python b.py", "bang", 1))]),
        (0, 1, 2, 3, 4, 5),
    ),
    "three calls gone round three times": (
        run(*[bash(f"./step{place}.sh", f"answer {place}") for _ in range(3) for place in "abc"]), tuple(range(9)),
    ),
    "four calls gone round three times, edits among them": (
        run(*[
            step for _ in range(3) for step in (
                edit("a.py", "1", "2"), bash("pytest", FAILS, 1), edit("a.py", "2", "1"), bash("pytest", FAILS + "!", 1),
            )
        ]),
        tuple(range(12)),
    ),
    "an edit made, taken back and made again while one error stays": (
        run(*[
            step for old, new in (("1", "2"), ("2", "1"), ("1", "2"), ("2", "1"))
            for step in (edit("a.py", old, new), bash("pytest -q", FAILS, 1))
        ]),
        tuple(range(8)),
    ),
    "the same with sed": (
        run(*[
            step for old, new in (("x", "y"), ("y", "x"), ("x", "y"), ("y", "x"))
            for step in (bash(f"sed -i 's/{old}/{new}/' a.py"), bash("pytest -q", FAILS, 1))
        ]),
        tuple(range(8)),
    ),
    "an install that changes nothing and an import that fails, to the end": (
        run(*[bash("pip install parsnip", "Requirement already satisfied: parsnip"), bash("python -c 'import parsnip'", "ModuleNotFoundError: parsnip", 1)] * 3),
        tuple(range(6)),
    ),
    "answers that differ in the day and the process of a log": (
        run(*[bash("tail -1 /var/log/pay.log", f"Mar {n + 7} 10:12:0{n} host pay[{n}4711]: no ledger is configured") for n in range(3)]), (0, 1, 2),
    ),
    "answers that differ in the process that a checker of memory names": (
        run(*[bash("leaks ./a | tail -1", f"=={n}3007== definitely lost: 48 bytes in 1 blocks") for n in range(3)]), (0, 1, 2),
    ),
    "answers that differ in a hash in brackets": (
        run(*[bash("./shelve page.html", f"the shelf takes no more pages (ref {n}a7d)", 1) for n in range(3)]), (0, 1, 2),
    ),
    "what is put aside and taken back, and a hash told of it": (
        run(*[step for n in range(3) for step in (bash("git stash", "Saved on main: 1f2"), bash("git stash pop", f"Dropped stash ({n}a7df02)"))]), tuple(range(6)),
    ),
    "one error of a build whose steps tell the seconds": (
        run(*[step for n in range(4) for step in (edit("Dockerfile", f"v{n}", f"v{n + 1}"), bash("docker build .", f"#9 {n}.4 no lock file beside the manifest", 1))]),
        tuple(range(8)),
    ),
    "the same folder named or not": (
        run(*[call("shell", TREE, command=["rg", "load"], **folder) for folder in ({}, {"workdir": "."}, {})]), (0, 1, 2),
    ),
    "a test after longer and longer pauses": (
        run(*[bash(f"sleep {n} && npx playwright test pay", "locator '#pay' matches nothing\n1 failed", 1) for n in (3, 5, 7)]), (0, 1, 2),
    ),
    "answers that differ in the number of the process": (
        run(*[bash("head -n 20 in.csv", f"17,abc,first,row\n18,def,second,row\nError: (none)\nProcess Group PGID: {number}") for number in (86900, 4417, 51)]), (0, 1, 2),
    ),
    "an edit between marks of search, made, taken back and made again": (
        run(*[
            step
            for old, new in (("Lock()", "RLock()"), ("RLock()", "Lock()")) * 3
            for step in (
                call("replace_in_file", path="c.go", diff=f"------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE"),
                bash("go test", "WARNING: DATA RACE", 1),
            )
        ]),
        tuple(range(12)),
    ),
    "an edit below a ruled heading, made, taken back and made again": (
        run(*[
            step
            for turn, (old, new) in enumerate((("Lock()", "RLock()"), ("RLock()", "Lock()")) * 3)
            for step in (
                call("replace_in_file", path="c.md", diff=f"<<<<<<< SEARCH\nLocks\n-----\n{old}\n=======\nLocks\n-----\n{new}\n>>>>>>> REPLACE"),
                bash("make docs", f"page {'abcdef'[turn]} is late", 1),
            )
        ]),
        (0, 2, 4, 6),
    ),
    "one error at another place each time, with edits of an own tool": (
        run(*[
            step
            for turn in range(5)
            for step in (
                call("replace_text", "OK", path="main.scss", old=f"gap: {turn}", new=f"gap: {turn + 1}"),
                bash("sass main.scss", f"[11:17:0{turn}] Undefined mixin. main.scss {turn + 1}:3 [{turn},8]", 65),
            )
        ]),
        tuple(range(10)),
    ),
    "one complaint in a form of its own behind a pipe, whatever is edited": (
        run(*[step for n in range(4) for step in (edit("spec.pk", f"v{n}", f"v{n + 1}"), bash("peck spec.pk | tail -2", "?! Unresolved glyph `ae`\nl.7 ae: undefined", 0))]),
        tuple(range(8)),
    ),
    "one complaint without an exit code, at another line each time": (
        run(*[step for n in range(4) for step in (edit("doc.tex", f"v{n}", f"v{n + 1}"), bash("typeset doc.tex", f"! Missing brace inserted.\nl.{n}4 end"))]),
        tuple(range(8)),
    ),
    "the same plan announced three times": (
        run(user("Fix it."), *[says("I will first look at the callers of load and then decide what to change.")] * 3),
        (1, 2, 3),
    ),
    "nearly the same plan": (
        run(
            says("I will first look at the callers of load and then decide what has to be changed in them."),
            says("I will first look at all callers of load and then decide what has to be changed in them."),
            says("I will first look at the callers of load and then decide what has to be changed in it."),
        ),
        (0, 1, 2),
    ),
    "one sentence over and over in one turn": (
        run(user("Why?"), says("Let me see. " + "Maybe the value is shared between both of them. " * 12)), (1,),
    ),
    "a user who says nothing new in between": (
        run(*[step for _ in range(3) for step in (says("I cannot find the file that you mean, sorry."), user("Please go on."))]),
        (0, 2, 4),
    ),
    "a screen that stays the same however often one scrolls": (
        run(*[call("scroll_down", "[File: a.py (40 lines)]\n" + "x = 1\n" * 30, amount=20)] * 4), (0, 1, 2, 3),
    ),
    "a comment, a way of showing and another spelling of a path": (
        run(
            bash("cat /repo/src/app.py", TREE), bash("cat src/app.py  # once more", TREE), bash("cat ./src/app.py | head -50", TREE),
            task="Fix /repo/src/app.py.",
        ),
        (0, 1, 2),
    ),
    "the folder entered or not": (run(bash("cd /repo && grep -rn load src", TREE), bash("grep -rn load src", TREE), bash("grep -rn load src -v | cat", TREE)), (0, 1, 2)),
    "a file read by three spellings": (run(read("/repo/src/a.py"), read("src/a.py"), read("./src/a.py")), (0, 1, 2)),
    "an edit to and fro that ends well": (
        run(
            *[step for old, new in (("1", "2"), ("2", "1"), ("1", "2")) for step in (edit("a.py", old, new), bash("pytest -q", FAILS, 1))],
            edit("a.py", "2", "1"), bash("pytest -q", "9 passed", 0),
        ),
        (0, 1, 2, 3, 4, 5),
    ),
    "an edit to and fro without a run": (run(*[edit("a.py", old, new) for old, new in (("1", "2"), ("2", "1")) * 3][:4]), (0, 1, 2, 3)),
    "the same sentences in another order, with another beginning": (
        run(*[
            says(f"{word} The value is read in load and kept in the cache. I cannot see who clears the cache. I will look once more.")
            for word in ("Hm.", "Well, well.", "So.")
        ]),
        (0, 1, 2),
    ),
    "the same tool of another kind": (run(*[call("update_ticket", "Error: no such field", id=3, state="x")] * 3), (0, 1, 2)),
    "asking for a state ever again without an end": (run(*[bash("kubectl get pods", "pending")] * 12), tuple(range(12))),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_found_with_its_steps(name: str) -> None:
    trajectory, steps = LOOPS[name]
    answer = verdict("infinite_loop", trajectory)
    assert answer.label == "yes", answer.rationale
    assert answer.steps == steps
    assert answer.rationale.endswith(".")


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([call("get_user", None, id=7)] * 3, "3 times with no answer recorded and nothing"),
        ([bash(f"./{name}.sh", None) for _ in range(3) for name in "ab"], "3 times with no answer recorded ("),
        (
            [step for _ in range(3) for step in (bash("./a.sh", "x"), bash("./b.sh", None))],
            "3 times with the same answers where one is recorded (",
        ),
    ],
)
def test_of_answers_that_a_run_does_not_record_nothing_is_said(steps: list[Step], text: str) -> None:
    assert text in verdict("infinite_loop", run(user("Go."), *steps)).rationale


def _twice_in_one_turn() -> Step:
    look = ToolCall("bash", {"command": "git log -1"})
    return Step(
        "agent", calls=(look, look, look), results=(ToolResult("commit"), ToolResult("commit"), ToolResult("commit"))
    )


HARD_NEGATIVES: dict[str, Trajectory] = {
    "one address on several hosts": run(
        *[bash(f"curl -fI https://{host}.org/2.1", "curl: (22) The requested URL returned error: 404", 22) for host in "abcd"],
    ),
    "scripts that are fed to one program": run(
        *[bash(f"python3 - <<'E'\nassert {text!r} in open('a').read()\nE", "Traceback:\nAssertionError", 1) for text in "abc"],
    ),
    "a glance at the whole change between one file and the next": run(
        *[step for name in "abcd" for step in (read(f"{name}.py", name), bash("git diff --stat", " a.py | 2 +-"))],
    ),
    "a program of the project with the name of one that looks": run(
        *[bash("./jobs release --one", "released job", 0)] * 4, bash("./jobs release --one", "nothing to release", 1),
    ),
    "a test that is run again because the user asks about chance": run(
        user("Is it flaky?"), *[bash("npx jest a", "Tests: 1 passed, 1 total", 0)] * 4,
    ),
    "different patches of a file whose path reads like a substitution": run(
        user("Fix it."),
        *[
            call("apply_patch", "Done!", input=f"*** Begin Patch\n*** Update File: crates/core/src/lib.rs\n@@\n-{n}\n+{n + 1}\n*** End Patch")
            for n in range(6)
        ],
    ),
    "a harness's own line that says that no error came": run(*[
        step
        for turn in range(5)
        for step in (edit("Cargo.toml", f"opt = {turn}", f"opt = {turn + 1}"), bash("./measure out | head -1", f"Output: {900 - turn * 31} app\nError: (none)"))
    ]),
    "twice is no loop": run(*[bash("grep -rn load src", TREE)] * 2),
    "paging with a reading tool": run(*[read("a.py", f"text {page}", offset=page * 50, limit=50) for page in range(5)]),
    "paging with sed": run(*[bash(f"sed -n '{page},{page + 49}p' a.py", f"text {page}") for page in range(1, 250, 50)]),
    "paging with head and tail": run(*[bash(f"head -n {page} a.py | tail -n 50", f"text {page}") for page in range(50, 250, 50)]),
    "paging by the same call": run(*[call("next_page", f"page {page} of the list") for page in range(5)]),
    "polling with changing answers": run(*[bash("gh run view 8 --json status", f"{done}%") for done in range(0, 100, 20)]),
    "polling until it is done": run(*[bash("sleep 30; tail -1 log", "running")] * 5, bash("sleep 30; tail -1 log", "finished")),
    "waiting with a tool": run(*[call("wait", "still running", seconds=10)] * 5, call("wait", "done", seconds=10)),
    "asking a shell that runs on": run(*[call("BashOutput", "no new output", bash_id="1")] * 4, call("BashOutput", "ok", bash_id="1")),
    "tests again after edits": run(
        *[step for turn in range(5) for step in (edit("a.py", f"{turn}", f"{turn + 1}"), bash("pytest", FAILS, 1))][:8],
        edit("a.py", "x", "y"), bash("pytest", "9 passed"),
    ),
    "tests again after edits with the shell": run(
        *[step for turn in range(4) for step in (bash(f"sed -i 's/{turn}/{turn}{turn}/' a.py"), bash("pytest", f"{4 - turn} failed", 1))],
    ),
    "a retry that works": run(*[bash("curl -sf host/x", "curl: (28) Connection timed out", 28)] * 4, bash("curl -sf host/x", "ok", 0)),
    "a file read again after each change": run(*[step for turn in range(4) for step in (read("a.py"), edit("a.py", f"{turn}", f"{turn}0"))]),
    "a file read again after a command that may have changed it": run(
        *[step for turn in range(4) for step in (read("out.txt"), bash(f"python make.py {turn}", ""))]
    ),
    "files with similar names": run(*[read(f"src/{name}.py", "same header") for name in ("user", "users", "user_old", "user_new")]),
    "one thing done to many files": run(*[bash(f"touch part_{place}.txt") for place in range(6)]),
    "many folders made": run(*[bash(f"mkdir -p data/{name}") for name in "abcd"]),
    "a tool of any name that waits for a job in a shell": run(
        *[call("console", "job 5512: no runner is free", command="sleep 30 && ci status 5512")] * 6
    ),
    "a tool of any name that is asked until the answer changes": run(
        *[call("ci", "no runner took it", job=5512)] * 6, call("ci", "done", job=5512)
    ),
    "a tool of any name whose answer says that it goes on": run(*[call("look_at", "job 5512: queued", job=5512)] * 6),
    "a question between waits": run(*[step for _ in range(5) for step in (call("nap", "ok", minutes=3), call("state_of", "none", job=3))]),
    "a running program asked with an empty line": run(
        *[call("bash_command", "Current Screen:\n$ make\nThe kernel takes some minutes on one core, and nothing is to be seen meanwhile.", keystrokes="")] * 6
    ),
    "an install between imports that fail, until one works": run(
        *[bash("pip install parsnip", "Requirement already satisfied: parsnip"), bash("python -c 'import parsnip'", "ModuleNotFoundError: parsnip", 1)] * 3,
        bash("python3.12 -c 'import parsnip'", "", 0),
    ),
    "a job set off and waited for": run(*[step for _ in range(3) for step in (bash("touch go.flag"), bash("sleep 60; tail -1 job.log", "no job yet"))]),
    "a stage in brackets that goes on": run(*[call("go_on", f"stage[{n}]: built, and the next one is open") for n in range(5)]),
    "a figure that grows": run(*[bash("ls out | wc -l", f"{n}") for n in range(10, 16)]),
    "one program with other words beside it": run(*[call("run_command", "ok, nothing has changed", command="git", args=[word]) for word in ("fsck", "gc", "prune", "repack")]),
    "one command in other folders, which stand apart": run(*[call("exec_command", "nothing to be done", cmd="make", workdir=f"/w/{n}") for n in "abcd"]),
    "git status between edits": run(*[
        step for turn in range(4) for step in (bash("git status", "M a.py"), edit("a.py", f"{turn}", f"{turn}1"))
    ]),
    "orientation between looks": run(*[
        step for turn in range(4) for step in (bash("pwd", "/repo"), bash("ls", "a b"), read(f"f{turn}.py"))
    ]),
    "one call three times in one turn": run(_twice_in_one_turn()),
    "words before calls that differ": run(*[
        Step("agent", "Let me run the tests.", calls=(ToolCall("bash", {"command": f"pytest -k case{turn}"}),),
             results=(ToolResult("ok"),)) for turn in range(5)
    ]),
    "the user asks for it again": run(*[
        step for turn in range(4) for step in (user(f"And once more, for customer {turn}."), bash("make report", "written"))
    ]),
    "the agent closes with the same words, the user says something new": run(*[
        step for turn in range(4) for step in (user(f"Question {turn}?"), says("Is there anything else I can do for you today?"))
    ]),
    "the user asks for the same again in the same words": run(*[
        step for _ in range(4) for step in (user("Run it again."), bash("make report", "written"))
    ]),
    "Enter sent to a program": run(*[call("send_keys", "Continue? [Y/n]", keys="Enter")] * 4),
    "a program stepped through": run(*[call("send_input", f"line {place}", text="n") for place in range(5)]),
    "a page scrolled": run(*[call("browser_scroll", "Scrolled.", direction="down")] * 5),
    "progress in words": run(*[says(f"I have finished file {place} of 9 and go on with the next one.") for place in range(5)]),
    "a complaint whose figure falls with each edit": run(*[
        step for n in range(5) for step in (edit("net.conf", f"v{n}", f"v{n + 1}"), bash("probe net.conf | tail -1", f"requests not answered: {900 - 100 * n}", 0))
    ]),
    "a notice that comes with every run": run(*[
        step for n in range(5) for step in (edit("gen.py", f"v{n}", f"v{n + 1}"), bash("python gen.py | tail -1", "warning: no cache, colours not used", 0))
    ]),
    "no fault told in words": run(*[
        step for n in range(5) for step in (edit("gen.py", f"v{n}", f"v{n + 1}"), bash("lint gen.py", "0 errors, no problems found"))
    ]),
    "two errors in turn while the code gets better": run(
        edit("a.py", "1", "2"), bash("pytest", "E   KeyError: 'x'\nFAILED a", 1),
        edit("a.py", "2", "3"), bash("pytest", "E   KeyError: 'y'\nFAILED a", 1),
        edit("a.py", "3", "4"), bash("pytest", "E   TypeError: z\nFAILED a", 1), edit("a.py", "4", "5"), bash("pytest", "ok"),
    ),
    "one trial taken back": run(
        edit("a.py", "1", "2"), bash("pytest", FAILS, 1), edit("a.py", "2", "1"), bash("pytest", FAILS, 1),
        edit("a.py", "1", "3"), bash("pytest", "9 passed", 0),
    ),
    "searches for different words with no result": run(*[bash(f"grep -rn {word} src", "") for word in ("load", "loader", "loads", "reload")]),
    "a checklist in one turn": run(says("\n".join(f"- [ ] check that module {name} still builds on all platforms" for name in "abcdef"))),
    "a text of some length": run(says("The parser reads one token at a time. It keeps the last two. " + "Errors name the line. The line is counted from one. " * 2)),
    "whose turn it is in a log of several agents": run(*[
        Step("agent", "The next speaker is WebSurfer, who looks at the page.", speaker=name)
        for name in ("Orchestrator", "WebSurfer", "Orchestrator", "WebSurfer", "Orchestrator")
    ]),
    "text taken out here and there": run(*[edit("a.py", f"line {place}", "") for place in range(6)]),
    "the same command in other folders": run(*[bash(f"cd /repo/{name} && make", "ok") for name in "abcd"]),
    "files of one name in other folders": run(*[read(f"pkg/{name}/__init__.py", "") for name in "abcd"]),
    "what differs in one name": run(*[says(f"I have looked at {name} and found nothing that could break it, so I go on.") for name in ("a.py", "b.py", "c.py", "d.py")]),
    "thoughts that differ": run(*[call("think", "", thought=f"The {word} may be at fault.") for word in ("cache", "parser", "clock")]),
    "writing many files": run(*[write(f"src/{name}.py", "pass\n") for name in "abcdef"]),
    "activating an environment before each command": run(*[
        step for turn in range(4) for step in (bash("source venv/bin/activate"), bash(f"python check.py {turn}", f"{turn}"))
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD_NEGATIVES)
def test_a_hard_negative_is_no_loop(name: str) -> None:
    answer = verdict("infinite_loop", HARD_NEGATIVES[name])
    assert answer.label == "no", answer.rationale
    assert answer.steps == ()
