"""No reply, however odd its JSON, is more than one item without a label, and every verdict can be written down."""

import pytest

from misstep.harness.journal.records import encode_lines
from misstep.harness.judges.replies import read_reply
from misstep.harness.verdict import Verdict


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


ODD = [
    *(f'{{"reasoning": {nested(depth)}, "label": "yes"}}' for depth in (900, 990, 5_000, 100_000)),
    *(f'{{"label": {nested(depth)}}}' for depth in (900, 990, 5_000)),
    *(f'{{"label": "yes", "score": {nested(depth)}, "steps": {nested(depth)}}}' for depth in (900, 990, 5_000)),
    '{"a": ' * 990 + "1" + "}" * 990,
    *(f'{{"label": "yes", "{field}": {number}}}' for field in ("score", "steps") for number in ("1e400", "9" * 4_299)),
    *(f'{{"label": "yes", "{field}": {number}}}' for field in ("score", "label") for number in ("-1e999", "9" * 5_000)),
    f'{{"label": "yes", "steps": [1, {"9" * 25}, {2**63}, {2**64}]}}',
    '{"label": "yes", "score": NaN, "steps": [Infinity]}',
    '{"label": "yes", "reasoning": "\\ud800 and \\udfff"}',
    '{"label": "\\ud800"}',
    '{"label": "yes", "reasoning": "\ud800"}',
    '{"\\ud800": "yes", "label": "no"}',
    f'{{"label": {"9" * 4_299}}}',
]


@pytest.mark.parametrize("text", ODD, ids=lambda text: text[:40].encode("unicode_escape").decode())
@pytest.mark.parametrize("steps", [None, 5])
def test_an_odd_reply_is_one_verdict_that_can_be_written_down(text: str, steps: int | None) -> None:
    answer = read_reply(text, ("yes", "no"), steps=steps)
    assert (answer.label is None) == (answer.status != "answered")
    assert answer.score is None
    assert all(0 <= step < (steps or 2**31) for step in answer.steps)
    given = Verdict("i", "j", answer.label, answer.status, answer.score, answer.steps, answer.rationale)
    encode_lines([given])
