"""What a stranger's run says of itself is an error in one line, however it is broken."""

import pytest

from misstep_harness.errors import InputError
from misstep_harness.journal.records import manifest_in


@pytest.mark.parametrize(
    "content",
    [b"a = " + b"[" * 100_000, b"a = " + b"9" * 10_000, b"\xff", b"a = ", b'schema = 1\ncommand = ["x"]\n'],
    ids=["nested", "long number", "not UTF-8", "not TOML", "another form"],
)
def test_a_manifest_that_cannot_be_read_is_named(content: bytes) -> None:
    with pytest.raises(InputError, match=r"run\.toml"):
        manifest_in(content, "run.toml")
