"""Certificates, clocks, names, proxies and registries that fail are nobody's fault, where the environment says so."""

import pytest

from misstep_harness.trajectory import Step
from tests.harness.triage.made_up_cases import a_run, shell
from tests.harness.triage.rules.test_interrupted import FAILS, judged

ASKED = Step("user", "Write total.")
SAID = Step("agent", "It is done.")
BREAKS = [
    "SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)",
    "curl: (60) SSL certificate problem: certificate is not yet valid",
    "E: Release file for http://deb.example/InRelease is not valid yet (invalid for another 3h). Clock skew?",
    "x509: certificate has expired or is not yet valid: current time 2019-01-01 is before 2024-02-02",
    "make: *** Clock skew detected. The build is incomplete.",
    "npm ERR! code CERT_HAS_EXPIRED",
    "ERROR: HTTP error 503 Service Unavailable while getting https://pypi.example/simple/lark/",
    "toomanyrequests: You have reached your pull rate limit.",
    "Received HTTP code 407 Proxy Authentication Required: tunnel connection failed",
]
OFFLINE = "Temporary failure in name resolution"


def _label(tmp_path, *steps, log="", tests=FAILS, instruction="") -> str:
    logs = {"logs/tests.log": tests} | ({"logs/harness.log": log} if log else {})
    files = logs | ({"instruction.md": instruction} if instruction else {})
    return judged(tmp_path, a_run(ASKED, *steps, SAID), files)


@pytest.mark.parametrize("line", BREAKS)
def test_what_breaks_outside_is_infrastructure_in_a_tools_answer_and_in_the_harness(tmp_path, line):
    assert _label(tmp_path / "tool", shell("pip install lark", line, 1)) == "infrastructure"
    assert _label(tmp_path / "harness", shell("ls"), log=f"12:00 ERROR {line}\n") == "infrastructure"
    assert _label(tmp_path / "agent", shell("ls"), Step("agent", f"I believe that the reason is: {line}")) == "agent"


def test_a_pull_limit_is_infrastructure_in_a_run_that_passed_and_in_one_that_failed(tmp_path):
    limit = "toomanyrequests: You have reached your pull rate limit.\n"
    assert _label(tmp_path / "failed", shell("ls"), log=limit) == "infrastructure"
    passed = {"case.toml": 'id = "one"\noutcome = "passed"\ntest_command = "python -m unittest tests/test_price.py"\n'}
    run = a_run(ASKED, shell("ls"), SAID)
    assert judged(tmp_path / "passed", run, {**passed, "logs/harness.log": limit}) == "infrastructure"


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([shell("pip install lark", BREAKS[0], 1), shell("pip install lark", "done")], id="put right"),
        pytest.param(
            [shell("date -s 2019-01-01"), shell("pip install lark", BREAKS[0], 1)], id="the agent's own clock"
        ),
        pytest.param([shell("cat old.log", BREAKS[0])], id="a log that was read"),
        pytest.param([shell("curl https://localhost:8443", BREAKS[1], 60)], id="the agent's own server"),
        pytest.param([shell("pip install lark", f"retries: 0, {OFFLINE}", 1)], id="no network, and the work is wrong"),
        pytest.param([shell("python work.py", "# 503 service unavailable is tried again", 1)], id="a comment"),
    ],
)
def test_what_was_put_right_made_by_the_agent_or_only_shown_is_no_cause(tmp_path, steps):
    assert _label(tmp_path, *steps) == "agent"


def test_a_task_about_certificates_is_the_agents(tmp_path):
    asked = "Renew the TLS certificate of the shop and check it with curl."
    assert _label(tmp_path, shell("curl https://shop.example", BREAKS[1], 60), instruction=asked) == "agent"


def test_without_a_network_the_tests_fail_by_it(tmp_path):
    tests = f"ERROR: test_price\nurllib.error.URLError: <urlopen error {OFFLINE}>\n\nFAILED (errors=1)\n"
    assert _label(tmp_path, shell("ls"), tests=tests) == "infrastructure"
