"""A whole study of simulated raters goes through the pipeline: what they said is what is measured in the end."""

import json
from pathlib import Path

from msgspec import structs

from misstep.analysis.measures.triage.annotated import AnnotatedStudy
from misstep.analysis.measures.triage.disagreement import disagreement
from misstep.analysis.measures.triage.simulated_raters import error_model, simulated_study
from misstep.studies.annotation.cases import open_cases
from misstep.studies.annotation.export import document, measured
from misstep.studies.annotation.plan import planned
from misstep.studies.annotation.study import AnnotationStudy, read_study


def _asked(folder: Path, study: AnnotatedStudy) -> Path:
    """A benchmark of the items of a study, without runs."""
    folder.mkdir()
    (folder / "benchmark.toml").write_text(f'kind = "triage"\nlabels = {json.dumps(study.labels)}\n')
    lines = (json.dumps({"id": item, "kind": "triage", "task": "Do it."}) for item in study.items)
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def test_the_figures_of_a_study_are_those_of_what_its_raters_said(tmp_path: Path) -> None:
    model = error_model()
    simulated = simulated_study(structs.replace(model, n=40, border=0.4, calibration=0), seed=2)
    cases = open_cases(_asked(tmp_path / "cases", simulated))
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
