"""A whole study of simulated raters goes through the pipeline: what they said is what is measured in the end."""

import json
from pathlib import Path
from random import Random
from statistics import mode

from msgspec import structs

from misstep.annotate.cases import open_cases
from misstep_analysis.annotation.disagreement import disagreement
from misstep_analysis.annotation.export import document, measured
from misstep_analysis.annotation.plan import AnnotatedStudy, planned
from misstep_analysis.annotation.study import AnnotationStudy, read_study
from misstep_harness.annotation import RaterAnswer


def _asked(folder: Path, study: AnnotatedStudy) -> Path:
    """A benchmark of the items of a study, without runs."""
    folder.mkdir()
    (folder / "benchmark.toml").write_text(f'kind = "triage"\nlabels = {json.dumps(study.labels)}\n')
    lines = (json.dumps({"id": item, "kind": "triage", "task": "Do it."}) for item in study.items)
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def _study() -> AnnotatedStudy:
    """Forty cases that three raters label, about which they talk where they differ."""
    random, raters = Random(2), ("ann", "ben", "cho")  # noqa: S311 (made-up data)
    labels = {f"case {number}": [random.choice(("task", "agent", "agent")) for _ in raters] for number in range(40)}
    answers = [
        RaterAnswer(item, rater, "independent", label, certainty="high")
        for item, own in labels.items()
        for rater, label in zip(raters, own, strict=True)
    ]
    talked_over = [
        RaterAnswer(item, rater, "reconciliation", mode(own), certainty="high")
        for item, own in labels.items()
        if len(set(own)) > 1
        for rater in raters
    ]
    return AnnotatedStudy(tuple(labels), raters, (*answers, *talked_over), ("task", "agent", "infrastructure", "pass"))


def test_the_figures_of_a_study_are_those_of_what_its_raters_said(tmp_path: Path) -> None:
    simulated = _study()
    cases = open_cases(_asked(tmp_path / "cases", simulated), tmp_path)
    plan = planned(cases.ids, simulated.raters, 6, 0, cases.labels)
    blind, after = simulated.blind(), simulated.reconciled()
    with AnnotationStudy(tmp_path / "study", plan, cases) as study:
        for phase in ("calibration", "independent", "reconciliation"):
            assert study.state.phase == phase
            given = after if phase == "reconciliation" else blind
            for rater in plan.raters:
                for item in study.state.left(rater, phase):
                    study.answer(structs.replace(given[item, rater], phase=phase))
        assert study.state.finished
    state, _ = read_study(tmp_path / "study")
    result = measured(state, 0, 0)
    alone = tuple(one for one in simulated.answers if one.item not in plan.calibration)
    expected = disagreement(structs.replace(simulated, answers=alone), 0, 0)
    assert result.report.fleiss_kappa == expected.report.fleiss_kappa
    assert set(result.disputed) == set(expected.disputed)
    assert result.lean == expected.lean
    assert result.reconciled.n == len({item for item, _ in after})
    assert json.loads(json.dumps(document(state, result)))["finished"]
