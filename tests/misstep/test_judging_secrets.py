"""The key and its kin are in nothing that a run writes or says, and go to nobody whom the person has not named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.harness.clients.faulty_server import Play, answer, completion, serving
from tests.misstep.as_a_user import in_a_thread, in_this_process
from tests.misstep.made_up_judges import benchmark, judge_file

KEY = "sk-proj-7Hq/2mXw+Zt9_LrB4vNc=E8sPd1GyKa"
TENANT = "tenant-5Fj8Wn3Qb7Rz1Tk6"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def misstep(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Tenant: {TENANT}")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return in_this_process("judge", monkeypatch, capsys)


def echoing(request: dict[str, Any]) -> Play:
    """What a server says that gives back all that it was sent, wherever a text may be cut."""
    number = int(request["messages"][-1]["content"].split("[")[1].split("]")[0])
    sent = f"{KEY} {TENANT} {quote(KEY, safe='')} {KEY[:12]}<b>{KEY[12:]}</b>"
    if number % 3 == 0:
        text = json.dumps({"reasoning": f"{'r' * number}{sent}", "label": "fruit"})
        return answer(completion(text), X_Sent=sent)
    body = "x" * (140 + 2 * number if number % 3 == 1 else 19_960 - 4 * number) + sent
    return answer({"error": {"message": body}} if number % 2 else body.encode(), 400, X_Sent=sent)


def test_an_echo_of_what_was_sent_is_in_nothing_that_a_run_leaves(tmp_path: Path, misstep: Run) -> None:
    folder = benchmark(tmp_path / "plants", [f"[{number}] apple" for number in range(45)])
    record, out = tmp_path / "recording.jsonl", tmp_path / "run"
    asked = ("run", judge_file(tmp_path), "--benchmark", folder, "--out", out, "--record", record)
    with in_a_thread(serving(choose=echoing)) as server:
        code, stdout, stderr = misstep(*asked, "--base-url", server.base_url, "--cache", tmp_path / "kept.sqlite")
        assert len(server.received) == 45
    assert code == 1, stderr
    assert (out / "report.html").exists()
    content = [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()]
    for text in (stdout, stderr, *content):
        for secret in (KEY, TENANT):
            parts = [secret[start : start + 9] for start in range(8, len(secret) - 8)]
            assert not any(part in text or quote(part, safe="") in text for part in parts)


def test_a_judge_of_somebody_else_does_not_say_where_the_key_goes(tmp_path: Path, misstep: Run) -> None:
    judge, folder = judge_file(tmp_path), benchmark(tmp_path / "plants", ["[3] apple"])
    with in_a_thread(serving(choose=echoing)) as server:
        judge.write_text(judge.read_text() + f'base_url = "{server.base_url}"\n')
        asked = ("run", judge, "--benchmark", folder, "--out", tmp_path / "run")
        code, _, stderr = misstep(*asked)
        assert code == 2
        assert server.received == []
        assert f"Give --base-url {server.base_url}" in stderr
        assert "OPENAI_API_KEY and OPENAI_CUSTOM_HEADERS" in stderr
        assert KEY not in stderr
        code, _, _ = misstep(*asked, "--base-url", server.base_url)
        assert code == 0
        assert TENANT in server.heads[0]


def test_a_judge_that_names_its_server_is_asked_where_nothing_secret_is_sent(tmp_path, misstep, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_CUSTOM_HEADERS")
    judge, folder = judge_file(tmp_path), benchmark(tmp_path / "plants", ["[3] apple"])
    with in_a_thread(serving(choose=echoing)) as server:
        judge.write_text(judge.read_text() + f'base_url = "{server.base_url}"\n')
        assert misstep("run", judge, "--benchmark", folder, "--out", tmp_path / "run")[0] == 0


def test_a_key_that_travels_unencrypted_is_said(tmp_path: Path, misstep: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy stands for the server, as nothing may leave the machine."""
    folder = benchmark(tmp_path / "plants", ["[3] apple"])
    with in_a_thread(serving(choose=echoing)) as server:
        monkeypatch.setenv("http_proxy", server.base_url.removesuffix("/v1"))
        asked = ("run", judge_file(tmp_path), "--benchmark", folder, "--out", tmp_path / "run")
        _, _, stderr = misstep(*asked, "--base-url", "http://models.invalid/v1")
        assert len(server.received) == 1
    assert "OPENAI_API_KEY and OPENAI_CUSTOM_HEADERS and all questions go to models.invalid unencrypted" in stderr
