"""Join rules and prompted judges on the same runs: the generated study, and public sets whose labels a mapping names.

The run of a prompted judge is in the recordings, one folder a set and category, as `misstep judge run` writes it:

    data/recordings/classifiers/generated-infinite_loop
    data/recordings/classifiers/trail-infinite_loop
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from misstep.analysis.measures.study_prevalence import Study
from misstep.analysis.measures.validity import JudgedSet, LabelledRuns, load_mappings, positives
from misstep.harness.journal.records import VERDICTS, read_verdicts
from misstep.harness.places import data_folder
from misstep.harness.verdict import Verdict

_GENERATED = "generated"


def labelled_runs(study: Study, sets: Sequence[JudgedSet]) -> list[LabelledRuns]:
    """Return what rules and prompted judges say of a generated study and of public sets, with the labels of each."""
    at_hand = {judged.benchmark: judged for judged in sets}
    mappings = [one for one in load_mappings() if one.benchmark in at_hand and not one.decisive]
    real = []
    for mapping in mappings:
        judged = at_hand[mapping.benchmark]
        rule = {verdict.item: verdict for verdict in judged.verdicts if verdict.judge == mapping.category}
        prompted, missing = _prompted(mapping.benchmark, mapping.category)
        gold = positives(mapping, judged.folder)
        of_set = mapping.category, judged.benchmark, judged.source
        real.append(LabelledRuns(*of_set, "real", gold, rule, prompted, missing))
    return [*_generated(study), *real]


def _generated(study: Study) -> list[LabelledRuns]:
    pairs = []
    for category in study.categories:
        prompted, missing = _prompted(_GENERATED, category)
        gold = {one.item: category in one.planted for one in study.sessions}
        labels = {one.item: one.found[category] for one in study.sessions}
        rule = {
            item: Verdict(item, category, label, "abstained" if label is None else "answered")
            for item, label in labels.items()
        }
        kinds = {one.item: one.kinds[category] for one in study.sessions if category in one.planted}
        of_set = category, _GENERATED, study.source
        pairs.append(LabelledRuns(*of_set, "generated", gold, rule, prompted, missing, kinds))
    return pairs


def _prompted(benchmark: str, category: str) -> tuple[dict[str, Verdict], str]:
    """Return the recorded verdicts of a prompted judge by run, or the sentence on what would record them."""
    folder = recordings() / f"{benchmark}-{category}"
    if not (folder / VERDICTS).is_file():
        command = f"`misstep judge run {category} FOLDER --model M`"
        return {}, f"no answers of a prompted judge are available: {command} asks one"
    named = {verdict.item.removesuffix(f"/{category}"): verdict for verdict in read_verdicts(folder / VERDICTS)}
    return {run: structs.replace(verdict, item=run) for run, verdict in named.items()}, ""


def recordings() -> Path:
    """Return where the runs of prompted judges are kept."""
    return data_folder() / "recordings" / "classifiers"
