"""Where in a run misbehaviour shows, and which runs are shown as examples."""

from msgspec import structs

from misstep_analysis.sessions.run_findings import (
    examples_table,
    pooled,
    sets_table,
)
from misstep_analysis.sessions.validity import JudgedSet
from misstep_harness.verdict import Verdict


def _set(name: str, *message: tuple[str, int]) -> JudgedSet:
    verdicts = tuple(
        Verdict(run, "loop", "yes", steps=(step, 9), rationale=f"step {step} again and again") for run, step in message
    )
    quiet = Verdict("quiet", "loop", "no")
    return JudgedSet(name, f"{name}@1", (*verdicts, quiet), {"quiet": 10, **{run: 10 for run, _ in message}})


def test_examples_come_from_different_sets_first() -> None:
    rows = examples_table([_set("one", ("a", 1), ("b", 2), ("c", 3)), _set("two", ("x", 4))], each=2).rows
    assert [(row.source, row.quantity) for row in rows] == [("one@1", "a"), ("two@1", "x")]
    assert rows[0].reason == "step 1 again and again"
    assert rows[0].example == "one/a#1"


def test_each_set_has_its_own_share_and_all_together_stand_beside_the_set_that_outweighs_the_others() -> None:
    large, small = _set("large", ("a", 1), ("b", 1), ("c", 1)), _set("small")
    result = sets_table([large, small])
    assert {row.group: row.value for row in result.rows if row.quantity == "loop"} == {"large": 0.75, "small": 0.0}
    assert "On 2 public sets" in result.finding
    assert "0.0% (small;" in result.finding
    assert "75.0% (large;" in result.finding
    together = pooled(structs.replace(result, finding="60.0% of 5 runs."), [large, small]).finding
    assert together == "60.0% of 5 runs. These are the runs of 2 unlike sets put together, 4 of them of large alone."
    assert pooled(result, [small]) == result


def test_examples_of_generated_runs_are_called_so_name_no_data_set_and_say_why() -> None:
    generated = structs.replace(_set("generated", ("a", 1)), evidence="generated", source="generated, seed 0, n 2")
    table = examples_table([generated])
    assert {(row.evidence, row.datasets) for row in table.rows} == {("generated", ())}
    assert table.datasets == ()
    assert "these runs are generated" in table.notes[-1]
    assert "these runs are generated" not in examples_table([_set("one", ("a", 1))]).notes[-1]
