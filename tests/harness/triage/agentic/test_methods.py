"""A model that judges a case: what it is shown, what it may do, and when its answer is a label."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from misstep_harness.agent.loop import AgentLimits
from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.clients.recording import text_reply
from misstep_harness.exchange import Failure, Outcome, Request
from misstep_harness.fault_mappings import taxonomy
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.agentic.methods import AgenticMethod, verdict_in
from misstep_harness.triage.agentic.tools import CaseFiles, case_text, place_of, taxonomy_text
from misstep_harness.triage.records import Access, TriageVerdict
from misstep_harness.triage.replica import ReplicasOfCase
from misstep_harness.triage.texts import FilesOfCase, TextsOfCase
from misstep_harness.workspace import Sandbox
from tests.harness.triage.made_up_cases import COMMAND, a_run, shell, triage_case, written

LOG = "FAIL: test_total\nAssertionError: 2 != 3\n"
RUN = written(a_run(shell("ls", "price.py"), shell("cat price.py", "return 0")))
FILES = {"logs/tests.log": LOG, "trajectory.json": RUN}


class Answers:
    """A model that gives scripted answers one after the other, and keeps what it was asked."""

    model = "scripted"

    def __init__(self, *answers: str | Outcome) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Outcome:
        await asyncio.sleep(0)
        self.asked.append(request)
        answer = self.answers.pop(0)
        return replace(text_reply(answer, self.model), input_tokens=10) if isinstance(answer, str) else answer


def replied(**fields: Any) -> str:
    given = {"reasoning": "The sum is the number of values.", "label": "agent", "score": 0.9, "steps": [1]}
    evidence = [{"where": "logs/tests.log:2", "text": "2 != 3"}, {"where": "step 1", "text": "return 0"}]
    return json.dumps({**given, "subcategory": "logical_failure", "evidence": evidence, **fields})


def judged(
    access: Access, folder: Path, answers: Answers, sandbox: Sandbox | None = None, **more: Any
) -> TriageVerdict:
    case = triage_case(folder / "one", FILES)
    method = AgenticMethod(access, ModelSettings("scripted"), **more)
    makes: dict[str, Callable[[], Any]] = {
        "text": lambda: TextsOfCase(case),
        "read-only": lambda: FilesOfCase(case),
        "sandbox": lambda: ReplicasOfCase(case, sandbox),  # type: ignore[arg-type]
    }
    return asyncio.run(method.judge(makes[access](), answers))


def test_the_prompt_has_the_whole_taxonomy_and_the_case_in_fences(tmp_path):
    answers = Answers(replied())
    judged("text", tmp_path, answers)
    system, user = (message.content for message in answers.asked[0].messages)
    assert all(name in system for category in taxonomy().values() for name in category.subcategories)
    assert taxonomy_text() in system
    assert "The tests failed" in user
    for shown in ("sum of the values", "2 != 3", "cat price.py", "return sum(values)", "self.assertEqual"):
        assert shown in user.partition("<data ")[2]


def test_a_judge_of_texts_can_be_asked_without_the_tests_and_the_gold_solution(tmp_path):
    case = triage_case(tmp_path / "one", FILES)
    answers = Answers(replied())
    method = AgenticMethod("text", ModelSettings("scripted"))
    asyncio.run(method.judge(TextsOfCase(case, whole=False), answers))
    user = answers.asked[0].messages[1].content
    assert "2 != 3" in user
    assert not any(shown in user for shown in ("return sum(values)", "self.assertEqual"))


def test_a_list_of_an_answer_has_a_limit_so_that_a_small_model_cannot_count_on_to_its_end(tmp_path):
    answers = Answers(replied())
    judged("text", tmp_path, answers)
    fields = answers.asked[0].schema["properties"]  # type: ignore[index]
    assert {name: fields[name]["maxItems"] for name in ("steps", "evidence")} == {"steps": 10, "evidence": 10}


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("solution/price.py:2", "file"),
        ("./tests/test_price.py line 6", "file"),
        ("/tests/test_price.py", "file"),
        ("tests.log:2", "log"),
        ("price.py", "file"),
    ],
)
def test_a_place_is_in_the_one_tree_that_was_shown(tmp_path, where, kind):
    verdict = judged("text", tmp_path, Answers(replied(evidence=[{"where": where, "text": "x"}])))
    assert (verdict.error, [piece.kind for piece in verdict.evidence]) == (None, [kind])


def test_a_name_that_several_files_have_is_that_of_the_workspace_or_none(tmp_path):
    files = CaseFiles(
        access := FilesOfCase(triage_case(tmp_path / "one", {"tests/a/x.py": "", "tests/b/x.py": ""})), access
    )
    assert (files.named("price.py"), files.named("x.py"), files.named("a/x.py")) == (
        "workspace/price.py",
        "",
        "tests/a/x.py",
    )


@pytest.mark.parametrize(
    "reply",
    [
        {"Reasoning": "It counts.", "Label": "Agent", "Evidence": [{"Where": "step 1", "Text": "x"}]},
        {"verdict": "agent", "rationale": "It counts.", "evidence": ["step 1 | x"]},
        {"result": {"label": "agent", "reasoning": "It counts.", "evidence": [{"where": "step 1", "text": "x"}]}},
    ],
)
def test_a_whole_verdict_in_other_words_for_its_fields_is_one(tmp_path, reply):
    verdict = judged("text", tmp_path, Answers(f"I am sure.\n```json\n{json.dumps(reply)}\n```\nThat is all."))
    assert (verdict.label, verdict.rationale) == ("agent", "It counts.")
    assert [piece.where for piece in verdict.evidence] == ["step 1"]


def test_an_answer_has_a_subcategory_and_evidence(tmp_path):
    verdict = judged("text", tmp_path, Answers(replied()))
    wanted = ("agent", "logical_failure", (1,), 10)
    assert (verdict.label, verdict.subcategory, verdict.steps, verdict.input_tokens) == wanted
    wanted = [("log", "logs/tests.log:2"), ("step", "step 1")]
    assert [(piece.kind, piece.where) for piece in verdict.evidence] == wanted
    assert verdict.error is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"subcategory": "weak_tests"}, "agent has no subcategory"),
        ({"evidence": [{"where": "step 40", "text": "x"}]}, "no step 40"),
        ({"evidence": [{"where": "workspace/price.py", "text": "x"}]}, "there is no 'workspace/price.py'"),
        ({"evidence": [{"where": "$ ls", "text": "x"}]}, "no command"),
    ],
)
def test_details_that_do_not_hold_are_left_out_and_said(tmp_path, fields, said):
    verdict = judged("text", tmp_path, Answers(replied(**fields)))
    assert verdict.label == "agent"
    assert verdict.error is not None
    assert said in verdict.error


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("It is the agent's fault.", "unreadable"),
        (replied(label="the agent"), "unreadable"),
        (Failure("timeout", "too slow"), "failed"),
    ],
)
def test_what_is_no_answer_is_no_label(tmp_path, answer, status):
    verdict = judged("text", tmp_path, Answers(answer))
    assert (verdict.label, verdict.status) == (None, status)


def command(line: str) -> str:
    return f"Thought: I look.\nCommand: {line}"


VERDICT = command(
    "verdict label=agent subcategory=logical_failure reasoning='It counts.' "
    "evidence='workspace/price.py:2 | return len(values)\nstep 1 | return 0'"
)


def test_an_investigator_reads_the_files_of_the_case_and_changes_none(tmp_path):
    looks = [
        "read_directory directory_path='.'",
        "read_file file_path='solution/price.py'",
        "search_code code_str='assertEqual'",
        "find_file file_name='price.py'",
        "diff first=environment second=workspace",
        "read_file file_path='trajectory/step_001'",
        "run command='ls'",
    ]
    answers = Answers(*map(command, looks), VERDICT)
    verdict = judged("read-only", tmp_path, answers)
    seen = [request.messages[-1].content for request in answers.asked[1:]]
    for text, shown in zip(
        seen,
        ["workspace/", "sum(values)", "tests/test_price.py:7", "solution/price.py", "len(values)", "cat"],
        strict=False,
    ):
        assert shown in text
        assert "<data " in text
    assert "no command 'run'" in seen[-1]
    wanted = ("agent", "logical_failure", "answered", (1,))
    assert (verdict.label, verdict.subcategory, verdict.status, verdict.steps) == wanted
    assert [piece.kind for piece in verdict.evidence] == ["file", "step"]


def test_files_that_are_no_text_are_compared_and_a_file_that_is_not_there_is_said(tmp_path):
    for place, data in (("environment", b"\xff1"), ("workspace", b"\xff2")):
        (tmp_path / "one" / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / place / "logo.bin").write_bytes(data)
    does = ["environment/logo.bin second=workspace/logo.bin", "environment/price.py second=workspace/prices.py"]
    answers = Answers(*(command(f"diff first={one}") for one in does), VERDICT)
    judged("read-only", tmp_path, answers)
    different, missing = (request.messages[-1].content for request in answers.asked[1:])
    assert "are not the same" in different
    assert "There is no file 'workspace/prices.py'" in missing


def test_what_an_investigation_cost_is_known_where_each_part_of_it_is(tmp_path):
    answers = Answers(command("test"), VERDICT)
    first = text_reply(answers.answers[0], "scripted")
    answers.answers[0] = replace(first, input_tokens=10, cost_usd=0.5)
    verdict = judged("read-only", tmp_path, answers)
    assert (verdict.input_tokens, verdict.cost_usd) == (20, None)


def test_an_investigator_with_a_sandbox_runs_things_in_a_replica(tmp_path, sandbox):
    does = [
        "test",
        "edit file_path='tests/test_price.py' old='[1, 2]), 3' new='[1, 2]), 2'",
        "test",
        "reset result=solution",
        "run command='python -m unittest tests/test_price.py'",
    ]
    end = command(
        "verdict label=agent reasoning='Gold passes.' evidence='$ python -m unittest tests/test_price.py | it passes'"
    )
    answers = Answers(*map(command, does), end)
    verdict = judged("sandbox", tmp_path, answers, sandbox)
    seen = [request.messages[-1].content for request in answers.asked[1:]]
    wanted = [(True, False), (False, False), (False, True), (False, False), (False, True)]
    assert [("[exit code 1," in text, "[exit code 0," in text) for text in seen] == wanted
    assert (verdict.label, verdict.evidence[0].kind) == ("agent", "command")
    assert "len(values)" in (tmp_path / "one/workspace/price.py").read_text()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("verdict label=agent reasoning=x evidence='$ ls | x'", "no command 'ls' was run"),
        ("verdict label=nobody reasoning=x evidence='step 1 | x'", "none of task, agent"),
        ("verdict label=agent subcategory=weak_tests reasoning=x evidence='step 1 | x'", "no subcategory 'weak_tests'"),
        ("verdict label=agent reasoning=x evidence=''", "evidence is empty"),
        ("verdict label=agent reasoning=x evidence='step 9 | x'", "no step 9"),
        ("verdict label=agent reasoning=' ' evidence='step 1 | x'", "reasoning is empty"),
    ],
)
def test_a_verdict_that_does_not_hold_is_not_taken(tmp_path, line, told):
    answers = Answers(command(line), VERDICT)
    assert judged("read-only", tmp_path, answers).label == "agent"
    assert told in answers.asked[1].messages[-1].content


def test_evidence_names_the_programs_of_a_command_and_none_of_its_other_words(tmp_path):
    case = CaseFiles(TextsOfCase(triage_case(tmp_path / "one", FILES)))
    commands = ["cd src && timeout 60 python -m pytest tests/price.py | tee out.log"]
    named = ("cd", "python", "tee", "pytest", "price.py", "60", "out.log", "&&", "-m")
    kinds = {name: place_of(name, case, commands).kind for name in named}
    assert [name for name in named if kinds[name] == "command"] == ["cd", "python", "tee"]


@pytest.mark.parametrize(("files", "length"), [(1, 40_000), (40, 4_000), (400, 300)])
def test_what_a_judge_is_shown_of_a_case_stays_within_its_budget(tmp_path, files, length):
    logs = {f"logs/{number}.log": "x" * length for number in range(files)}
    case = TextsOfCase(triage_case(tmp_path / "one", {**logs, "trajectory.json": RUN}))
    shown = case_text(case, None, 1_000)
    assert len(shown) <= 4_000
    assert "left out" in shown


@pytest.mark.parametrize(
    "named",
    [
        *("$ test", "test", "`$ test`", "$ test (exit code 1)", "python -m unittest", "$ python"),
        *(f"$ {COMMAND}", f"$ run command='{COMMAND}'", COMMAND),
    ],
)
def test_evidence_names_a_command_by_its_name_or_its_line(tmp_path, sandbox, named):
    end = command(f'verdict label=agent reasoning=x evidence="""{named} | it fails"""')
    verdict = judged("sandbox", tmp_path, Answers(command("test"), end), sandbox)
    assert (verdict.label, [piece.kind for piece in verdict.evidence]) == ("agent", ["command"])


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "```json\n{}\n```",
        "I am done:\n{}\nThat is all.",
        "Thought: I know.\nCommand: verdict {}",
        "Thought: I know.\nCommand: diff first=environment second=workspace\n\n{}",
        '<tool_call>{{"name": "verdict", "arguments": {}}}</tool_call>',
    ],
)
def test_a_whole_verdict_as_json_ends_the_investigation(tmp_path, around):
    given = replied(evidence=[{"where": "workspace/price.py:2", "text": "return len(values)"}, "step 1 | return 0"])
    verdict = judged("read-only", tmp_path, Answers(around.format(given)))
    wanted = ("agent", "logical_failure", "The sum is the number of values.", (1,))
    assert (verdict.label, verdict.subcategory, verdict.rationale, verdict.steps) == wanted
    assert [piece.kind for piece in verdict.evidence] == ["file", "step"]


def test_two_verdicts_and_one_that_was_shown_are_none():
    assert verdict_in(replied() + replied(label="task")) is None
    assert verdict_in(replied(), [f"a record: {replied()}"]) is None


def test_a_model_that_insists_has_given_its_answer(tmp_path):
    again = replied(evidence=[{"where": "step 40", "text": "x"}], steps=[])
    verdict = judged("read-only", tmp_path, Answers(again, again))
    assert (verdict.label, verdict.evidence) == ("agent", ())
    assert "no step 40" in (verdict.error or "")


@pytest.mark.parametrize(
    ("limits", "answers", "status", "said"),
    [
        (AgentLimits(2, 60.0), [command("diff first=a second=b")] * 2, "unreadable", "iterations"),
        (AgentLimits(9, 60.0, 15), [command("diff first=a second=b")] * 2, "unreadable", "tokens"),
        (AgentLimits(9, 0.0), [command("diff first=a second=b")], "unreadable", "seconds"),
        (AgentLimits(9, 60.0), [Failure("timeout", "too slow")], "failed", "too slow"),
    ],
)
def test_an_investigation_without_a_verdict_is_no_label(tmp_path, limits, answers, status, said):
    verdict = judged("read-only", tmp_path, Answers(*answers), limits=limits)
    assert (verdict.label, verdict.status) == (None, status)
    assert said in (verdict.error or "")


@pytest.mark.parametrize(("access", "answer"), [("text", replied()), ("read-only", VERDICT)])
def test_the_judges_own_run_is_kept(tmp_path, access, answer):
    kept: list[Trajectory] = []
    judged(access, tmp_path, Answers(answer), keep=kept.append)
    assert [(run.id, run.agent) for run in kept] == [("one", f"triage@{access}" + "/model" * (access != "text"))]
    assert kept[0].steps[-1].role == "agent"
