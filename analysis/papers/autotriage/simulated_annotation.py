"""The figures of AutoTriage's table 2 for simulated raters: a test of the pipeline that says nothing about people."""

from misstep.analysis.measures.triage.disagreement import disagreement
from misstep.analysis.measures.triage.disagreement_tables import agreement_rows
from misstep.analysis.measures.triage.simulated_raters import error_model, simulated_study
from misstep.analysis.tables import Table, made_by_this
from misstep.analysis.tables.wording import with_interval


@made_by_this
def simulated_annotation_table(resamples: int = 10_000, seed: int = 0) -> Table:
    """Return the agreement of the simulated raters of `data/annotation/simulated_raters.toml`, as in table 2."""
    model = error_model()
    study = simulated_study(model, seed)
    simulation = disagreement(study, resamples, seed)
    source = f"{len(study.raters)} simulated raters of {simulation.n} cases, seed {seed}"
    return Table(
        name="simulated_annotation",
        paper="autotriage",
        title=f"Agreement of {len(study.raters)} simulated raters (a test of the pipeline of table 2)",
        finding=(
            "These raters are simulated: by a stated model of errors they reach a Fleiss' kappa of "
            f"{with_interval(simulation.report.fleiss_kappa, 'coefficient')}, which follows from the model and says "
            "nothing about people."
        ),
        rows=agreement_rows(simulation, source, "generated"),
        notes=(
            f"The model: {model.border:.0%} of the cases of task and agent lie at the border of the two, and there the "
            f"raters say task in {_listed([rater.task_at_border for rater in model.raters])} of the cases, whatever "
            "the truth. Elsewhere they err at the stated rates of data/annotation/simulated_raters.toml, which are "
            "fitted to nobody.",
            "Raw agreement over all raters has Korn and Graubard's interval over cases, that of two raters Wilson's.",
        ),
        generator="misstep.analysis.measures.triage.simulated_raters.simulated_study",
    )


def _listed(shares: list[float]) -> str:
    *most, last = (f"{share:.0%}" for share in shares)
    return f"{', '.join(most)} and {last}" if most else last
