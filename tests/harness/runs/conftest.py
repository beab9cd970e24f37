"""A small judge for runs of judges."""

from pathlib import Path

import pytest

from misstep_harness.judges.judge_file import JudgeSpec, read_judge
from tests.misstep.made_up_judges import judge_file


@pytest.fixture
def spec(tmp_path: Path) -> JudgeSpec:
    return read_judge(judge_file(tmp_path))
