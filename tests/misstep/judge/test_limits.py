"""`misstep judge run --fail-under`: a judge that is not good enough stops a pipeline, and one that is does not."""

from functools import partial

import pytest

RUN = ("run", "trail/gemini-2.5-flash_gaia", "--benchmark", "trail")


@pytest.mark.data
@pytest.mark.parametrize(("limit", "code"), [("accuracy=0.75", 0), ("accuracy.lower=81%", 1), ("kappa=0.99", 1)])
def test_the_scores_are_printed_and_the_limit_decides_the_exit_code(limit, code, data_folder, tmp_path, in_process):
    run = partial(in_process, "judge")
    ended, out, said = run(*RUN, "--out", str(tmp_path / "run"), "--fail-under", limit, "--data", str(data_folder))
    assert (ended, "81.2%" in out) == (code, True)
    assert ("misstep: passed: " if code == 0 else "misstep: failed: ") in said
