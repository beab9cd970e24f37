"""Runs that say nothing of agent or task: who says that something broke, and when, decides."""

import shutil
from pathlib import Path

import pytest

from misstep_harness.trajectory import Outcome, Step, Trajectory
from misstep_harness.triage.logs import outcome_in
from misstep_harness.triage.replica import ReplicasOfCase
from misstep_harness.triage.rules.judging import by_files, by_running, by_texts
from misstep_harness.triage.rules.verdicts import Undecided
from misstep_harness.triage.texts import FilesOfCase, TextsOfCase
from misstep_harness.workspace import Sandbox
from tests.harness.triage.made_up_cases import RIGHT, a_run, shell, triage_case, written

FAILS = "FAIL: test_total (test_price.Totals)\nAssertionError: 2 != 3\n\nFAILED (failures=1)\n"
ASKED = Step("user", "Write total.")
NOBODY = a_run(ASKED)
DONE = a_run(ASKED, shell("cat price.py"), Step("agent", "It is done."))
HEALTHY = (
    "Uploading 3 skills (14.2 KB)",
    "there is room for 200 MB of logs",
    "the server was killed after 120 s, 14 KB of output kept",
    "/dev/loop0 56M 56M 0 100% /snap/core18/2128",
    "Downloading /tmp/model.bin 100%",
    "500 files synced",
    "503 tests ran",
    "API calls: 500",
    "code coverage: 500 of 700 lines",
    "status: 409 of 409 steps",
    "Token usage: 1200",
    "billing-service: the image is built",
)
"""What a harness writes of work that goes well."""

CUT_OFF = a_run(ASKED, shell("cat price.py"), shell("ls", "price.py"))
REFUSED = "HTTP/1.1 401 Unauthorized"
API_ERROR = Step("agent", 'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}')
NO_OUTCOME = {"case.toml": 'id = "one"\ntest_command = "python -m unittest tests/test_price.py"\n'}


def judged(folder: Path, run: Trajectory | None, files: dict[str, str]) -> str:
    """The label by texts, which is also that by files; `undecided` where a rule abstains."""
    recorded = {} if run is None else {"trajectory.json": written(run)}
    case = triage_case(folder / "one", {**recorded, **files})
    if run in (None, NOBODY):
        shutil.rmtree(case.folder / "workspace")
        shutil.copytree(case.folder / "environment", case.folder / "workspace")
    results = [by_texts(TextsOfCase(case)), by_files(FilesOfCase(case))]
    for one in results:
        assert all(
            (case.folder / piece.where.partition(":")[0]).exists() for piece in one.evidence if piece.kind == "log"
        )
    labels = {"undecided" if isinstance(one, Undecided) else one.label for one in results}
    assert len(labels) == 1, results
    return labels.pop()


@pytest.mark.parametrize("run", [None, NOBODY])
@pytest.mark.parametrize("tests", ["", FAILS])
@pytest.mark.parametrize(
    ("log", "label"),
    [
        ("toomanyrequests: You have reached your pull rate limit.\n", "infrastructure"),
        ("model endpoint: 401 Unauthorized\nrun aborted before the agent started\n", "infrastructure"),
        ("407 Proxy Authentication Required\n", "infrastructure"),
        ("dial tcp: lookup registry.example: no such host\n", "infrastructure"),
        ("AgentSetupTimeoutError: Agent setup timed out after 360 seconds\n", "infrastructure"),
        ("ERROR: failed to solve: process did not complete successfully\n", "infrastructure"),
        ("pull failed, retrying (1/2)\npull failed, retrying (2/2)\n", "infrastructure"),
        ("the lift of the moon base is out of order: cannot go on\n", "infrastructure"),
        ("starting\nresult: failed reward=0\n", "undecided"),
        ("", "undecided"),
    ],
)
def test_where_the_agent_took_no_step_it_is_never_at_fault(tmp_path, run, tests, log, label):
    logs = {f"logs/{name}": text for name, text in (("harness.log", log), ("tests.log", tests)) if text}
    assert judged(tmp_path, run, logs) == label


@pytest.mark.parametrize(
    ("run", "log", "label"),
    [
        (CUT_OFF, "openai.RateLimitError: Error code: 429 - insufficient_quota\n", "infrastructure"),
        (CUT_OFF, "getaddrinfo EAI_AGAIN api.model.example\n", "infrastructure"),
        (CUT_OFF, "FATAL the runner lost its node\n", "infrastructure"),
        (DONE, "openai.RateLimitError: Error code: 429 - insufficient_quota\n", "agent"),
        (CUT_OFF, "429 Too Many Requests, retrying in 2 s\nagent: maximum number of turns reached\n", "agent"),
        (CUT_OFF, "Traceback (most recent call last):\nAgentTimeoutError: timed out after 900.0 seconds\n", "agent"),
        (CUT_OFF, "tests: cd tests && python -W error check.py\n", "agent"),
        *((CUT_OFF, f"{line}\n", "agent") for line in HEALTHY),
        (CUT_OFF, "429: please check your plan and billing details\n", "infrastructure"),
        (a_run(ASKED, shell("ls"), API_ERROR), "", "infrastructure"),
        (a_run(ASKED, API_ERROR), "", "infrastructure"),
        (a_run(ASKED, shell("ls"), extra={"info": {"exit_status": "RateLimitError"}}), "", "infrastructure"),
        (a_run(ASKED, shell("ls"), extra={"info": {"exit_status": "LimitsExceeded"}}), "", "agent"),
        (a_run(ASKED, shell("curl https://shop.example", REFUSED, 22)), "", "agent"),
        (a_run(ASKED, shell("curl https://shop.example", REFUSED, 22)), f"12:00 [agent] {REFUSED}\n", "agent"),
    ],
)
def test_who_says_that_something_broke_and_when_decides(tmp_path, run, log, label):
    logs = {"logs/tests.log": FAILS} | ({"logs/harness.log": log} if log else {})
    assert judged(tmp_path, run, logs) == label


@pytest.mark.parametrize(
    ("log", "label"),
    [
        ("result: passed reward=1\n", "pass"),
        ('{"reward": 1.0}\n', "pass"),
        ("attempt 1: result: passed\nresolved: false\n", "agent"),
        ("reward: 0.5\n", "agent"),
        ("starting\n", "undecided"),
        ("result: passed reward=0\n", "undecided"),
        ("result: passed\nresolved: false\n", "undecided"),
        ('{"event": "end", "passed": true}\n', "pass"),
        ("reward=1.\n", "pass"),
    ],
)
def test_the_outcome_is_read_in_the_logs_of_the_harness(tmp_path, log, label):
    run = a_run(*DONE.steps)
    files = {**NO_OUTCOME, "logs/harness.log": log}
    assert judged(tmp_path, Trajectory(run.id, run.source, run.task, run.steps, Outcome()), files) == label


def test_a_suite_counts_whatever_signs_are_in_its_name() -> None:
    report = '<testsuite name="a" tests="3" failures="0"></testsuite><testsuite name="b > c" tests="2" failures="1">'
    assert outcome_in({"junit.xml": report}) == "failed"


@pytest.mark.parametrize(
    ("files", "where"),
    [
        ({"harness.log": "begin\nresult: passed reward=1\n"}, ["logs/harness.log:2"]),
        ({"verifier/reward.txt": "1\n"}, ["logs/verifier/reward.txt:1"]),
        ({"reward.json": '{"style": 1.0, "right": 1.0}'}, ["logs/reward.json:1"]),
        ({"ctrf.json": '{"results": {\n"summary": {"failed": 0, "tests": 2}}}'}, ["logs/ctrf.json:2"]),
        ({"junit.xml": '<testsuites>\n<testsuite tests="2" errors="0" failures="0">'}, ["logs/junit.xml:2"]),
        ({"junit.xml": '<testsuite tests="2" failures="1">', "reward.txt": "1"}, ["logs/reward.txt:1"]),
        ({"junit.xml": '<testsuite tests="2" skipped="2" failures="0">'}, []),
        ({"a.log": "result: passed\n", "reward.txt": "0"}, ["logs/a.log:1", "logs/reward.txt:1"]),
    ],
)
def test_the_line_that_tells_the_outcome_is_evidence(tmp_path, files, where):
    run = Trajectory("run", DONE.source, steps=DONE.steps)
    logs = {f"logs/{name}": text for name, text in files.items()}
    result = by_texts(TextsOfCase(triage_case(tmp_path / "one", {**NO_OUTCOME, **logs}), run))
    assert [one.where for one in result.evidence] == where
    assert getattr(result, "label", None) == ("pass" if len(where) == 1 else None)


@pytest.mark.parametrize(
    ("log", "label"),
    [
        ("reward=1\nTraceback (most recent call last):\ndocker.errors.APIError: 500\n", "infrastructure"),
        ("AgentTimeoutError: Agent execution timed out after 900 s\nreward=1\n", "infrastructure"),
        ("Error response from daemon: pull access denied for task\nreward=1\n", "infrastructure"),
        ("Memory cgroup out of memory: Killed process 12 (python)\nreward=1\n", "infrastructure"),
        ("RateLimitError: Error code: 429\nreward=1\n", "infrastructure"),
        ("write /x: no space left on device\nreward=1\n", "infrastructure"),
        ("reward=1\nERROR the container vanished\n", "infrastructure"),
        ("ERROR a plug-in was not loaded\nreward=1\nthe log is uploaded\n", "pass"),
        ("429 Too Many Requests, retrying in 2 s\nreward=1\n", "pass"),
        ("failed to pull task:2, falling back to task:1\nreward=1\n", "pass"),
        ("agent timeout: 900\nrate limit: 60 a minute\ndocker daemon 24.0\nreward=1\n", "pass"),
        ("waiting for port 80: connection refused\nreward=1\n", "pass"),
        ("overlay 80G 80G 0 100% /\nreward=1\n", "infrastructure"),
        ("disk /var 100%\nreward=1\n", "infrastructure"),
        ("server answered HTTP status code: 503\nreward=1\n", "infrastructure"),
        ("429: slow down\nreward=1\n", "infrastructure"),
        *((f"{line}\nreward=1\n", "pass") for line in HEALTHY),
    ],
)
def test_what_broke_in_the_harness_is_looked_at_before_a_pass(tmp_path, log, label):
    run = Trajectory("run", DONE.source, steps=DONE.steps)
    assert judged(tmp_path, run, {**NO_OUTCOME, "logs/harness.log": log}) == label


def test_an_event_is_looked_for_before_a_result_that_passes_counts(tmp_path: Path, sandbox: Sandbox) -> None:
    nobody = Trajectory("run", NOBODY.source, steps=NOBODY.steps)
    files = {**NO_OUTCOME, "environment/price.py": RIGHT, "workspace/price.py": RIGHT}
    log = {"logs/harness.log": "toomanyrequests: pull rate limit\n"}
    result = by_running(ReplicasOfCase(triage_case(tmp_path / "one", {**files, **log}), sandbox, nobody))
    assert (result.label, result.evidence[0].where) == ("infrastructure", "logs/harness.log:1")
    quiet = by_running(ReplicasOfCase(triage_case(tmp_path / "two", files), sandbox, nobody))
    assert isinstance(quiet, Undecided)
