"""In files other than Python, lines that the blamed change wrote or a trace names are changed by tokens."""

import pytest

from misstep_harness.repair.search.policy import text_candidates
from misstep_harness.repair.search.scope import changed

BEFORE = """export function price(pieces: number, each: number) {
  const sum = pieces * each
  if (pieces >= 10 && !each) {
    return join(sum, each)
  }
  return sum
}
"""
DIFF = """Title: Tidy

diff --git a/src/price.ts b/src/price.ts
--- a/src/price.ts
+++ b/src/price.ts
@@ -2,3 +2,3 @@ export function
   const sum = pieces * each
-OLD
+NEW
     return join(sum, each)
"""
RIGHT = "  if (pieces >= 10 && !each) {"


@pytest.mark.parametrize(
    "wrong",
    [
        RIGHT.replace(">=", ">"),
        RIGHT.replace("&&", "||"),
        RIGHT.replace("10", "11"),
        RIGHT.replace("!each", "each"),
        RIGHT.replace("pieces >= 10", "10 <= pieces"),
    ],
)
def test_a_line_of_the_blamed_change_is_mended_or_the_change_undone(wrong: str) -> None:
    texts, result = _candidates(
        BEFORE.replace(RIGHT, wrong), {"1": DIFF.replace("OLD", RIGHT).replace("NEW", wrong)}, ""
    )
    mended = [changed(texts[each.path], each.change) for each in result]
    assert BEFORE in mended[:-1] or mended[-1] == BEFORE
    assert result[-1].change.template == "the blamed change undone"


def test_a_line_that_a_trace_of_node_names_is_changed_and_no_test_is() -> None:
    trace = "Error: 3\n    at price (/ws/src/price.ts:4:12)\n    at /ws/test/price.test.ts:1:1"
    texts, result = _candidates(BEFORE.replace("(sum, each)", "(each, sum)"), {}, trace)
    assert BEFORE in [changed(texts[each.path], each.change) for each in result]
    assert {(each.path, each.change.line) for each in result} == {("src/price.ts", 4)}


def test_nothing_is_proposed_where_neither_names_a_line() -> None:
    assert _candidates(BEFORE, {"1": DIFF.replace("src/price.ts", "README.md")}, "src/price.ts:99")[1] == []
    assert _candidates(BEFORE, {"1": "Title: Add a picture\n\nBinary files differ"}, "")[1] == []


def _candidates(text: str, diffs: dict[str, str], failure: str):
    files = {"src/price.ts": text, "test/price.test.ts": "x(1)\n"}
    return text_candidates(list(files), lambda path: files[path].encode(), diffs, failure)
