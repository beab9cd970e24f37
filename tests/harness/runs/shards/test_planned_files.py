"""The files of a plan: those of folders that all machines see."""

import pytest

from misstep.harness.errors import UsageError
from misstep.harness.runs.inputs import EVER
from misstep.harness.runs.shards.planned_files import planned


def test_shards_read_no_address() -> None:
    with pytest.raises(UsageError, match="shards read no address: s3://bucket/logs"):
        planned(["s3://bucket/logs"], None, EVER)
