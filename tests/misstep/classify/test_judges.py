"""`misstep classify --model`: who is asked about what, what is kept, and what a second line asks."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from misstep.classify import app
from misstep_harness.errors import UsageError
from misstep_harness.judges.fencing import fenced_parts
from tests.harness.clients.faulty_server import FaultyServer, Play, answer, completion, serving
from tests.misstep.as_a_user import in_a_thread
from tests.misstep.made_up import atif

HARDLY = ("unrequested_changes", "did_not_follow_instructions")


def _answer(request: dict[str, Any]) -> Play:
    """The stub's answer: a session that edits migrations goes against an instruction, and no other does."""
    text = request["messages"][-1]["content"]
    broken = "go against an instruction" in text and "> Edit" in text and "migrations/1.py" in text
    reasoning = "The rules say never edit anything below migrations." if broken else "Nothing."
    reply = {"reasoning": reasoning, "label": "yes" if broken else "no", "steps": []}
    return answer(completion(json.dumps(reply), usage={"prompt_tokens": 900, "completion_tokens": 100}))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    with in_a_thread(serving(choose=_answer)) as running:
        yield running


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """Two sessions of which the second edits a file; their project has rules that no rule of ours can read."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "CLAUDE.md").write_text(
        "# Rules\n\nNever ever edit anything below migrations, whoever asks.\n"
    )
    (folder / "one.json").write_bytes(atif("one"))
    (folder / "two.jsonl").write_text(_claude_code("two", tmp_path / "shop"))
    return folder


def _claude_code(name: str, cwd: Path) -> str:
    common = {"sessionId": name, "cwd": str(cwd), "timestamp": "2026-01-05T10:00:00.000Z"}
    edit = {"file_path": f"{cwd}/migrations/1.py", "old_string": "a", "new_string": "b"}
    call = {"type": "tool_use", "id": "t", "name": "Edit", "input": edit}
    done = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    lines = [
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Add a price."}, **common},
        {"type": "assistant", "uuid": "v", "message": {"role": "assistant", "content": [call]}, **common},
        {"type": "user", "uuid": "w", "message": {"role": "user", "content": [done]}, **common},
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def _run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    return done.exit_code, done.stdout


def _asking(server: FaultyServer) -> tuple[str, ...]:
    return ("--model", "small-1", "--base-url", server.base_url)


def test_the_second_line_says_by_what_each_category_was_looked_for(server: FaultyServer, sessions: Path) -> None:
    code, printed = _run(sessions, *_asking(server))
    each = "; ".join(f"{name}: 2 by {name} (small-1)" for name in HARDLY)
    assert printed.splitlines()[1] == f"Checked for infinite_loop: 2 by rule; tool_call_failure: 2 by rule; {each}."
    assert code == 0
    assert "No share is corrected for errors" in printed
    assert len(server.received) == 4


UNUSABLE = [
    ("answered", completion("I would rather not say.")),
    ("answered", completion('{"label": "maybe"}')),
    ("answered", completion("")),
    ("answered", completion(None, message={"refusal": "I cannot help with that."})),
    ("failed", None),
]


@pytest.mark.parametrize(("ended", "reply"), UNUSABLE)
def test_a_reply_that_cannot_be_used_leaves_a_session_unanswered_beside_a_rules_no(
    ended: str, reply: dict[str, Any] | None, sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    play = answer(reply) if reply is not None else answer({"error": "not this request"}, 400)
    with in_a_thread(serving(choose=lambda _: play)) as server:
        line = (sessions, "--out", tmp_path / "run", *_asking(server))
        code, printed = _run(*line)
        document = json.loads(_run(*line, "--json")[1])
    second = printed.splitlines()[1]
    each = [one for one in second.split("; ") if one.startswith(HARDLY)]
    assert len(each) == 2
    assert all("2 by" in one and "2 without an answer" in one and "by rule" not in one for one in each), second
    assert code == (0 if ended == "answered" else 1)
    assert [document["categories"][name]["checked"] for name in HARDLY] == [0, 0]
    verdicts = [json.loads(one) for one in (tmp_path / "run" / "verdicts.jsonl").read_text().splitlines()]
    assert {one["label"] for one in verdicts if one["judge"] in HARDLY} == {None}
    assert document["failed"] == []


def test_a_limit_on_a_share_says_how_many_sessions_had_no_answer(sessions, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")

    def one_of_two(request: dict[str, Any]) -> Play:
        return _answer(request) if "migrations/1.py" in request["messages"][-1]["content"] else answer(completion("?"))

    with in_a_thread(serving(choose=one_of_two)) as server:
        limits = ("--fail-on", "did_not_follow_instructions<1%", "--fail-on", "any<1%")
        done = CliRunner().invoke(app, [str(sessions), *_asking(server), *limits], catch_exceptions=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("misstep: passed: ")]
    assert [line.count("1 of 2 sessions had no answer") for line in lines] == [1, 2]


def test_the_rules_of_the_project_are_shown_fenced(server, sessions) -> None:
    _, printed = _run(sessions, *_asking(server), "--json")
    (finding,) = json.loads(printed)["findings"]
    assert (finding["item"], finding["category"]) == ("two", "did_not_follow_instructions")
    shown = [part for one in server.received for part in fenced_parts(one["messages"][-1]["content"])]
    assert sum("shop/CLAUDE.md:\n# Rules\n\nNever ever edit" in part for part in shown) == 2
    assert not any("whoever asks" in _unfenced(one["messages"][-1]["content"]) for one in server.received)


def _unfenced(text: str) -> str:
    for part in fenced_parts(text):
        text = text.replace(part, "")
    return text


def test_without_rules_nothing_of_them_is_sent(server: FaultyServer, sessions: Path) -> None:
    assert _run(sessions, *_asking(server), "--no-rules", "--json")[0] == 0
    assert not any("whoever asks" in json.dumps(one["messages"]) for one in server.received)


def test_a_run_says_which_judge_gave_a_verdict_and_asks_about_new_sessions_alone(server, sessions, tmp_path) -> None:
    line = (sessions, "--out", tmp_path / "run", *_asking(server))
    _run(*line)
    verdicts = [json.loads(one) for one in (tmp_path / "run" / "verdicts.jsonl").read_text().splitlines()]
    by = {(one["item"], one["judge"]): (one.get("by"), one["model"]) for one in verdicts}
    assert by["two", "infinite_loop"] == (None, None)
    assert by["two", HARDLY[0]] == (HARDLY[0], "small-1")
    n = len(server.received)
    assert _run(*line)[1].startswith("2 sessions, ")
    assert len(server.received) == n
    (sessions / "three.json").write_bytes(atif("three"))
    assert "unrequested_changes: 3 by" in _run(*line)[1]
    assert len(server.received) == n + 2
    (sessions / "one.json").unlink()
    assert "unrequested_changes: 2 by" in _run(*line)[1]
    assert len(server.received) == n + 2


def test_a_limit_on_cost_is_one_for_all_judges_and_the_same_line_goes_on(server, sessions, tmp_path) -> None:
    for number in range(6):
        (sessions / f"more-{number}.json").write_bytes(atif(f"more-{number}"))
    line = (sessions, "--out", tmp_path / "run", *_asking(server), "--concurrency", "1")
    priced = ("--price-in", "1000", "--price-out", "1000")
    code, _ = _run(*line, *priced, "--max-cost", "6")
    n = len(server.received)
    assert code == 1
    assert 0 < n < 16
    assert _run(*line, *priced)[0] == 0
    assert len(server.received) == 16


def test_labels_of_people_correct_the_shares(server: FaultyServer, sessions: Path, tmp_path: Path) -> None:
    for number in range(30):
        (sessions / f"more-{number}.json").write_bytes(atif(f"more-{number}"))
        shutil.copy(sessions / "two.jsonl", sessions / f"two-{number}.jsonl")
    twos = "".join(f"two~{number},did_not_follow_instructions,yes\n" for number in range(2, 32))
    ones = "".join(f"more-{number},did_not_follow_instructions,no\n" for number in range(30))
    (tmp_path / "gold.csv").write_text(f"item,category,label\n{twos}{ones}")
    _, printed = _run(sessions, *_asking(server), "--gold", tmp_path / "gold.csv", "--json")
    corrected = json.loads(printed)["corrected"]
    assert corrected["did_not_follow_instructions"]["value"] == 0.5
    assert corrected["any"]["reason"] == "no session has labels of people for all categories"


def test_wrong_judges_and_options_are_refused_before_anything_is_asked(sessions, monkeypatch) -> None:
    from misstep_harness.errors import UsageError

    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    for arguments, said in (
        (("--judge", "recovery", "--model", "m"), "none of the categories"),
        (("--max-cost", "1"), "no model is asked"),
        (("--judge", HARDLY[0], "--judge", HARDLY[0], "--model", "m"), "two judges"),
    ):
        with pytest.raises(UsageError, match=said):
            _run(sessions, *arguments)


@pytest.mark.parametrize("limit", ["loops>5%", "accuracy>5%", "any.change>5%", "any>5", "any>nan"])
def test_a_limit_that_cannot_be_held_is_told_before_anybody_is_asked(server, sessions, tmp_path, limit: str) -> None:
    line = [str(sessions), "--out", str(tmp_path / "run"), *_asking(server), "--fail-on", limit]
    with pytest.raises(UsageError, match=r"unknown figure|is not a limit"):
        CliRunner().invoke(app, line, catch_exceptions=False)
    assert (len(server.received), (tmp_path / "run").exists()) == (0, False)
