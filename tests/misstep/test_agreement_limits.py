"""`misstep agreement --fail-under`: raters who agree too little stop a pipeline."""

from functools import partial
from pathlib import Path

import pytest

from tests.misstep.as_a_user import CommandLine

LABELS = "item,ann,ben\n" + "".join(f"i{n},{'yes' if n % 2 else 'no'},{'yes' if n % 3 else 'no'}\n" for n in range(30))


@pytest.mark.parametrize(
    ("limit", "code", "outcome"),
    [
        ("alpha=-0.9", 0, "passed: alpha is "),
        ("alpha=0.67", 1, "failed: alpha is "),
        ("ac1.lower=90%", 1, "failed: ac1"),
    ],
)
def test_the_limit_decides_the_exit_code_after_the_report(limit, code, outcome, tmp_path, in_process) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(LABELS)
    run = partial(in_process, "agreement")
    ended, out, said = run(str(file), "--boot", "0", "--fail-under", limit)
    assert (ended, outcome in said) == (code, True)
    assert "Krippendorff" in out


def test_each_of_several_questions_has_its_own_limit(tmp_path: Path, in_process: CommandLine) -> None:
    rows = [f"{question},i{n},{rater},yes" for question in ("safe", "true") for n in range(4) for rater in ("a", "b")]
    file = tmp_path / "labels.csv"
    file.write_text("question,item,rater,label\n" + "\n".join([*rows, "safe,i9,a,no", "safe,i9,b,no"]) + "\n")
    run = partial(in_process, "agreement")
    line = (str(file), "--by", "question", "--boot", "0")
    assert run(*line, "--fail-under", "safe.alpha=0.9")[0] == 0
    code, _, said = run(*line, "--fail-under", "true.alpha=0.9")
    assert (code, "undecided: true.alpha cannot be computed" in said) == (1, True)
