"""What a run showed of its judge, as a certificate."""

import msgspec

from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables.wording import counted_text, with_interval
from misstep.harness.errors import UsageError
from misstep.harness.runs.judging.certificate import Certificate, ShownOn, certificate
from misstep.studies.judged_runs import JudgedRun
from misstep.studies.judging.scored import kept_figures, scored


def certified(run: JudgedRun, days: int) -> Certificate:
    """Return the certificate of the judge of a finished run on items that people labelled."""
    if run.unfinished:
        raise UsageError(f"the run {run.folder} {run.unfinished}", "Finish it by its own line.")
    scored(run.folder, run.benchmark)
    shown = {name: one for name, one in kept_figures(run.folder).items() if one.value is not None}
    if not shown:
        advice = "Label some with `misstep label RUN`; what a judge is worth shows only beside people's labels."
        raise UsageError(f"no item of the run {run.folder} has a gold label", advice)
    question, inputs = run.question, run.manifest.inputs
    on = ShownOn(question.name, len(run.verdicts), inputs.digest, question.evidence)
    return certificate(run.manifest, run.name, on, msgspec.to_builtins(shown), days)


def certified_sentence(document: Certificate) -> str:
    """Return what is certified, on which benchmark and until when."""
    accuracy = msgspec.convert(document.shown["accuracy_all"], Estimate)
    on = f"{counted_text(document.benchmark.items, 'item')} of {document.benchmark.name}"
    right = f"gives the gold label on {with_interval(accuracy, 'share')} of {on}"
    return f"{document.asked['judge']} {right}.\nThe certificate holds until {document.valid_until[:10]}."
