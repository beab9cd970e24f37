"""A command reads what lies at an address as it reads a path, and records the address."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.web_server import Page, WebServer, web_server
from tests.misstep.as_a_user import CommandLine, in_new_interpreter
from tests.misstep.made_up import atif

RUNS = atif("made", steps=3)
NAME, SET = "tools/runs.jsonl", "garden/runs"
AS_JSON = {"Content-Type": "application/json"}
LISTED = Page(json.dumps([{"type": "file", "path": NAME, "size": len(RUNS), "oid": "0" * 40}]).encode(), fields=AS_JSON)


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A server with a file, also as the only file of a data set of the Hugging Face hub."""
    pages = {
        "/runs.jsonl": Page(RUNS),
        f"/api/datasets/{SET}": Page(b'{"id": "garden/runs", "sha": "c0ffee"}', fields=AS_JSON),
        f"/api/datasets/{SET}/tree/main/tools": LISTED,
        f"/datasets/{SET}/resolve/main/{NAME}": Page(RUNS, fields={"ETag": '"1"', "X-Repo-Commit": "c0ffee"}),
    }
    with web_server(pages) as server:
        yield server


def test_a_command_reads_an_address_and_records_it(web: WebServer, tmp_path: Path, in_process: CommandLine) -> None:
    address = f"{web.address}/runs.jsonl"
    code, _, errors = in_process("classify", address, "--out", tmp_path / "run")
    assert code == 0, errors
    assert f'"{address}"' in (tmp_path / "run" / "sessions.jsonl").read_text()
    assert address in (tmp_path / "run" / "run.toml").read_text()


@pytest.mark.parametrize(("address", "code"), [("{}/gone.jsonl", 2), ("s3://bucket/runs", 3), ("https://a:b@c/x", 2)])
def test_what_cannot_be_had_is_one_line_and_an_exit_code(address, code, web: WebServer, in_process) -> None:
    ended, said, errors = in_process("classify", address.format(web.address))
    assert (ended, said, len(errors.splitlines())) == (code, "", 1)


def test_a_data_set_of_the_hub_is_opened_as_any_file_and_the_key_kept_nowhere(web: WebServer, tmp_path: Path) -> None:
    variables = {"HF_ENDPOINT": web.address, "HF_TOKEN": "hf_hunter2", "HF_HOME": str(tmp_path / "home")}
    variables["MISSTEP_CACHE"] = str(tmp_path / "cache")
    address = f"hf://datasets/{SET}/{NAME}"
    ended = in_new_interpreter("classify", address, "--out", tmp_path / "run", **variables)
    assert ended.returncode == 0, ended.stderr
    kept = {path.name: path.read_text() for path in (tmp_path / "run").iterdir() if path.is_file()}
    assert f'"{address}"' in kept["sessions.jsonl"]
    assert not [name for name, text in kept.items() if "hunter2" in text or "%3A" in text]
