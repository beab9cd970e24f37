"""Where in a run misbehaviour shows, and which runs are shown as examples."""

from pathlib import Path

from msgspec import structs

from misstep.analysis.measures.run_findings import (
    datasets_of,
    evidence_of,
    examples_table,
    place_table,
    pooled,
    sets_table,
    source_of,
)
from misstep.analysis.measures.validity import JudgedSet
from misstep.harness.verdict import Verdict


def _set(name: str, *message: tuple[str, int]) -> JudgedSet:
    verdicts = tuple(
        Verdict(run, "loop", "yes", steps=(step, 9), rationale=f"step {step} again and again") for run, step in message
    )
    quiet = Verdict("quiet", "loop", "no")
    return JudgedSet(name, Path(), f"{name}@1", (*verdicts, quiet), {"quiet": 10, **{run: 10 for run, _ in message}})


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


def test_generated_runs_are_called_so_and_name_no_data_set() -> None:
    generated = structs.replace(_set("generated", ("a", 1)), evidence="generated", source="generated, seed 0, n 2")
    assert {row.evidence for row in place_table([generated]).rows} == {"generated"}
    assert {(row.evidence, row.datasets) for row in sets_table([generated]).rows} == {("generated", ())}
    assert {row.evidence for row in examples_table([generated]).rows} == {"generated"}
    assert {row.datasets for row in examples_table([generated]).rows} == {()}
    assert (source_of([generated]), datasets_of([generated])) == ("generated, seed 0, n 2", ())
    assert evidence_of([_set("one")]) == "real"
    assert evidence_of([_set("one"), generated]) == "generated"
