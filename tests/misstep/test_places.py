"""A path on a command line may be an address: what lies there is fetched, and named by its address everywhere."""

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up import atif

BENCHMARK = ("benchmark", "make", "memory://logs/good.json", "--labels", "memory://labels.csv", "--out")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A store in memory, a cache of its own, and a folder of its own to write to."""
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pipe("/logs/good.json", atif("good"))
    system.pipe("/logs/broken.json", b'{"schema_version": "ATIF-v1.4", "steps": [')
    system.pipe("/labels.csv", b"item,A,B\ngood,yes,yes\n2,no,no\n3,yes,no\n")
    system.pipe("/attempts.csv", b"task,passed\nt1,yes\nt1,no\nt2,\n")
    system.pipe("/figures.csv", b"id,check,printed,inputs\nsolved,percentage,49.0%,n=123\n")
    yield
    system.store.clear()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("classify", "memory://logs"), 1, "misstep: memory://logs/broken.json: "),
        (("classify", "memory://logs/broken.json"), 1, "misstep: memory://logs/broken.json: "),
        (("observe", "memory://logs"), 1, "misstep: memory://logs/broken.json: "),
        (("convert", "memory://logs", "--out", "converted"), 1, "misstep: memory://logs/broken.json: "),
        (("view", "memory://logs/good.json", "--id", "x"), 2, "memory://logs/good.json has no trajectory 'x'"),
        (("agreement", "memory://labels.csv", "--raters", "C"), 2, "memory://labels.csv has no rater 'C'"),
        (("pass", "memory://attempts.csv"), 0, ""),
        (("audit", "memory://figures.csv"), 0, ""),
        ((*BENCHMARK, "made"), 0, "4 of 6 labels"),
        (("watch", "memory://logs", "--out", "run"), 2, "this command reads no address: memory://logs"),
        (("triage", "memory://logs"), 2, "this command reads no address: memory://logs"),
        (("report", "memory://run"), 2, "this command reads no address: memory://run"),
        (("judge", "compare", "memory://run", "there"), 2, "this command reads no address: memory://run"),
        (("classify", "memory://nothing"), 2, "memory://nothing: there is nothing at this address"),
        (("classify", "s3://bucket/x"), 3, "pip install s3fs"),
        (("classify", "https://kim:hunter2@host/x"), 2, "https://…@host holds a login"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_every_command_that_takes_a_path_takes_an_address(arguments, code, message, in_process) -> None:
    ended, out, errors = in_process(arguments[0], *arguments[1:])
    assert (ended, message in errors) == (code, True), errors
    assert "addresses" not in out + errors
    assert "hunter2" not in out + errors


def test_the_records_and_the_page_of_a_run_name_the_address(in_process: CommandLine) -> None:
    code, _, _ = in_process("classify", "memory://logs", "--out", "run")
    assert code == 1
    content = {path.name: path.read_text() for path in Path("run").iterdir() if path.is_file()}
    assert '"memory://logs/good.json"' in content["verdicts.jsonl"]
    assert "memory://logs/good.json" in content["run.toml"]
    assert "misstep classify memory://logs" in content["report.html"]
    assert not [name for name, text in content.items() if "%3A%2F%2F" in text]
