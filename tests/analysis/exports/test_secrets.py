"""No key leaves with an export: it is refused, or replaced where that is asked for."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_analysis.exports.writing import Form, export_run
from misstep_analysis.runs.kind import Choice
from misstep_harness.errors import InputError
from misstep_harness.journal.records import read_manifest, write_manifest
from tests.misstep.made_up_exports import KINDS
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict

TOKEN = "ghp_" + "a1B2" * 9
OF_ENVIRONMENT = "quince-7Hq2mXw-Zt9LrB4vNcE8s"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in which a judge repeats a token, and the key of the environment in pieces."""
    monkeypatch.setenv("OPENAI_API_KEY", OF_ENVIRONMENT)
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in OF_ENVIRONMENT)
    given = [
        verdict(0, rationale="Nothing is wrong."),
        verdict(1, "no", rationale=f"It prints {TOKEN} on the terminal."),
        verdict(2, rationale=f"It says {escaped}."),
    ]
    return judged_run(tmp_path / "run", benchmark_of_runs(tmp_path / "gates", 3), given)


@pytest.mark.parametrize("to", ["hf", "parquet", "csv", "inspect"])
def test_a_run_with_a_key_is_refused_by_file_record_column_and_kind(run: Path, to: Form, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        export_run(run, to, tmp_path / "out", Choice())
    text = refused.value.line()
    assert text.startswith(f"{run}/verdicts.jsonl: item item-1: rationale: this has the form of a GitHub token, and 1 ")
    assert "--redact" in text
    assert TOKEN not in text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("to", ["hf", "csv"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_folder_and_no_server_of_the_machine_leaves_with_an_export(runs, kind, to, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.quagga.example/v1")
    run = tmp_path / "run"
    shutil.copytree(runs[kind], run)
    manifest = read_manifest(run)
    more = [str(tmp_path / "gates"), "--base-url", "http://10.7.0.5:8000/v1", f"--cases={tmp_path}/own cases"]
    write_manifest(run, replace(manifest, arguments=[*manifest.arguments, *more]))
    export_run(run, to, tmp_path / "out", Choice())
    content = "".join(file.read_text() for file in (tmp_path / "out").rglob("*") if file.suffix in (".csv", ".md"))
    for private in (str(tmp_path), str(runs[kind].parent), "10.7.0.5", "quagga"):
        assert private not in content
    if to == "hf":
        assert "gates --base-url [base-url]/v1 '--cases=own cases'" in content


@pytest.mark.parametrize("to", ["hf", "parquet", "csv", "inspect"])
def test_on_request_no_spelling_of_a_key_is_left_and_the_rest_is(run: Path, to: Form, tmp_path: Path) -> None:
    export_run(run, to, tmp_path / "out", Choice(), redact=True)
    contents = [file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()]
    for secret in (TOKEN, OF_ENVIRONMENT, "\\u0071\\u0075\\u0069"):
        assert not any(secret.encode() in content for content in contents)
    if to == "hf":
        card = (tmp_path / "out" / "README.md").read_text()
        assert "1 times a GitHub token, 1 times a secret of the environment" in card
    if to == "csv":
        assert "It prints [secret] on the terminal." in (tmp_path / "out" / "verdicts.csv").read_text()


def test_a_key_in_the_command_line_that_the_card_would_name_is_refused_too(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", benchmark_of_runs(tmp_path / "gates", 1), [verdict(0)])
    manifest = run / "run.toml"
    manifest.write_text(manifest.read_text().replace("arguments = []", f'arguments = ["judge", "run", "{TOKEN}"]'))
    with pytest.raises(InputError, match=r"run\.toml: the data card: this has the form of a GitHub token"):
        export_run(run, "hf", tmp_path / "out", Choice())
