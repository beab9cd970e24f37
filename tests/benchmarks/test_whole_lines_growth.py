"""What is whole of a damaged session is told in time that grows with its length and no faster."""

import pytest

from misstep_harness.readers.input.decoding import whole_lines
from tests.benchmarks.growth import QUADRATIC, growth

LINE = b'{"type": "user", "number": %08d, "text": "a line that is long enough"}'
DAMAGED = {
    "objects glued into one line": lambda n: b"".join(LINE % i for i in range(n)),
    "every other line is torn": lambda n: b"\n".join(LINE % i if i % 2 else (LINE % i)[:50] for i in range(n)),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_takes_no_more_than_its_length(damage: str) -> None:
    assert growth(DAMAGED[damage], whole_lines, 4000) < QUADRATIC
