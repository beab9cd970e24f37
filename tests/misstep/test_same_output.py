"""The same line gives the same bytes: no hash of Python's, which differs from process to process, decides an order."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep_analysis.pages.trajectory import known_sum
from tests.misstep.as_a_user import in_new_interpreter
from tests.misstep.made_up import atif

_WHEN = re.compile(rb"^(?:started|finished) = .*$|\"(?:seconds|started|finished)\": ?[\d.e-]+", re.MULTILINE)


def _costly(name: str, cents: int) -> bytes:
    """A session that lists the same folder again and again, each step at a price whose sum depends on its order."""
    document = json.loads(atif(name, steps=12))
    for number, step in enumerate(document["steps"][1:], start=1):
        step["tool_calls"][0]["arguments"]["command"] = "ls -la fence"
        tokens = {"prompt_tokens": 100 + number, "completion_tokens": 10}
        step["metrics"] = {**tokens, "cost_usd": 7.0**number / 3 + 0.01 * cents}
    return json.dumps(document).encode() + b"\n"


def _written(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(one for one in folder.rglob("*") if one.is_file()):
        yield file.relative_to(folder).as_posix(), _WHEN.sub(b"", file.read_bytes())


def test_classify_writes_the_same_files_whatever_the_hash_seed(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions.jsonl"
    sessions.write_bytes(b"".join(_costly(f"run-{number}", number) for number in range(4)))
    out = tmp_path / "run"
    written = []
    for seed in ("1", "2", "3"):
        done = in_new_interpreter("classify", sessions, "--out", out, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        written.append((done.stdout, dict(_written(out))))
        out.rename(tmp_path / seed)
    assert {"scores.json", "report.html", "verdicts.jsonl"} <= set(written[0][1])
    assert json.loads((tmp_path / "1/scores.json").read_bytes())["costs"]["any"]["usd"] > 0
    for _, files in written[1:]:
        assert [name for name, content in files.items() if content != written[0][1][name]] == []
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize("figures", [[0.1] * 10 + [1e16, -1e16], [0.1, 0.2, 0.3, None, 0.7], [1e100, 1.0, -1e100]])
def test_a_sum_is_the_same_in_any_order(figures: list[float | None]) -> None:
    assert known_sum(figures) == known_sum(figures[::-1]) == known_sum(sorted(figures, key=str))


def test_a_sum_of_whole_numbers_stays_whole_and_exact() -> None:
    assert known_sum([2**60, 1, None]) == 2**60 + 1
    assert known_sum([None]) is None
