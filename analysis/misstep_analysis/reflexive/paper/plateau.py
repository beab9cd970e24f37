"""Detectors of plateaus compared, and the failure modes' witnesses as printed.

Detectors answer on generated reflections with known truth, and on those that the pages quote. The runs of the witnesses
are of generated items and synthetic agents: a mode happens here without its mechanism, and not with it. They confirm no
printed figure.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.units import BoolArray, units_of
from misstep_analysis.passing.paired_systems import LEVEL
from misstep_analysis.published import load_paper, published_row
from misstep_analysis.reflexive.ablation import Cure
from misstep_analysis.reflexive.scores import ALSO, MEASURES
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Evidence, Row, Table, TableHead, Unit, estimate_row, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import with_interval

NOTHING_SEEN = "no plateau is seen"


NO_PLATEAU = "no case is one diagnosis"


ALL_PLATEAUS = "every case is one diagnosis"


class PlateauAnswer(Struct, frozen=True):
    """What one detector said of one case; cases of one `cluster` hang together."""

    case: str
    cluster: str
    kind: str
    same: bool
    flagged: bool


class DetectorAnswers(Struct, frozen=True):
    """All answers of a detector; `missing` says why there are none."""

    detector: str
    answers: tuple[PlateauAnswer, ...] = ()
    missing: str = ""


class PlateauExample(Struct, frozen=True):
    """Reflections, whether they are the same, and each detector's answer."""

    name: str
    same: bool
    flagged: dict[str, bool]


class PlateauScores(Struct, frozen=True):
    """A detector's figures, clustered.

    - `precision`: The share of one diagnosis among its plateaus, which depends on the mix of cases.
    - `kinds`: Kind of case → the share in which it sees one, with whether the case is one diagnosis.
    """

    detector: str
    precision: Estimate
    recall: Estimate
    false_alarms: Estimate
    kinds: dict[str, tuple[bool, Estimate]]


def plateau_scores(detector: DetectorAnswers) -> PlateauScores:
    """Return the figures of one detector's answers; a detector that could not be asked has none, and each says why."""
    answers = detector.answers
    if not answers:
        none = Estimate(None, n=0, reason=detector.missing or "no case was asked about")
        return PlateauScores(detector.detector, none, none, none, {})
    units = units_of([answer.case for answer in answers], {answer.case: answer.cluster for answer in answers})
    same, flagged = (
        _array(values) for values in zip(*((answer.same, answer.flagged) for answer in answers), strict=True)
    )
    kinds = {answer.kind: answer.same for answer in answers}
    return PlateauScores(
        detector.detector,
        units.share(same, flagged, NOTHING_SEEN),
        units.share(flagged, same, NO_PLATEAU),
        units.share(flagged, ~same, ALL_PLATEAUS),
        {
            kind: (truth, units.share(flagged, _array(answer.kind == kind for answer in answers), ""))
            for kind, truth in kinds.items()
        },
    )


def _array(values: Iterable[bool]) -> BoolArray:
    return np.array(list(values), dtype=np.bool_)


_SLUG = "reflexive"
_APART: dict[Unit, Unit] = {"share": "difference"}
"""Unit of a figure → that of a difference, if it is another."""


_CURES = TableHead(
    "cures",
    _SLUG,
    "Each failure mode, its witness and its cure",
    (
        "A generated figure is the mean over seeds; the difference is without less with, of runs with one seed and "
        "the same items. Witnesses are of other agents on another target: nothing here confirms them.",
        "A figure without an interval is the same at every seed.",
    ),
)


@made_by_this
def cures_table(cures: Sequence[Cure], source: str) -> Table:
    """Return each failure mode: its printed witness, and its figures in runs without and with its mechanism."""
    modes = list(dict.fromkeys(cure.mode.name for cure in cures))
    shown = {cure.mode.name for cure in cures if cure.shown}
    missed = [name for name in modes if name not in shown]
    rest = f"; not shown: {', '.join(missed)}" if missed else ""
    return _CURES.table(
        (
            f"{len(shown)} of {len(modes)} failure modes show here where their mechanism is left out, and less or not "
            f"at all where it is not (level {LEVEL}, Holm's adjustment for {len(cures)} figures){rest}."
            if cures
            else "No run of the loop is on record."
        ),
        (row for name in modes for row in _rows([cure for cure in cures if cure.mode.name == name], source)),
    )


def _rows(cures: Sequence[Cure], source: str) -> Iterator[Row]:
    paper = load_paper(_SLUG)
    mode = cures[0].mode
    heading = f"{mode.name} ({mode.mechanism})"
    for id_ in mode.witness:
        yield published_row(paper[id_], f"Witness: {paper[id_].row} ({paper[id_].column})", group=heading)
    for cure in cures:
        measure = (MEASURES | ALSO)[cure.key]
        without, apart = cure.without, cure.without.difference
        figures: list[tuple[str, Estimate, Unit]] = [
            ("without", without.mean, measure.unit),
            ("with it", cure.whole.mean, measure.unit),
            *([] if apart is None else [("difference", apart, _APART.get(measure.unit, measure.unit))]),
            ("p adjusted", Estimate(without.p_adjusted, n=without.mean.n, method=without.test), "p"),
        ]
        named = [(f"{measure.name}, {name}", figure, unit) for name, figure, unit in figures]
        yield from rows_of(named, heading, source, "generated")


_SLUG_of_plateau, _DATASET = "reflexive", "gemmaforge"
_KEYWORDS, _EXACT, _EMBEDDINGS = "keywords", "exact", "embeddings"
_PRECISION, _RECALL, _FALSE = (
    "Precision: of the plateaus seen, those that are one diagnosis",
    "Recall: of the cases of one diagnosis, those seen",
    "False alarms: of the cases of several diagnoses, those seen as one",
)


_PLATEAU_GENERATED = TableHead(
    "plateau_generated",
    _SLUG_of_plateau,
    "Detectors of plateaus on generated reflections",
    (
        "Several causes of one failure are told with the words of that failure: what compares words takes them for "
        "one. A diagnosis that is reworded altogether shares few words, and what asks for more misses it.",
        "Whoever is not told of it counts the words of a common layout; a skill knows those of its prompts. The "
        "layouts share no word with the lists of the detectors, so that these lists alone bring nothing here.",
        "Equality is of first sentences: where these say what happened, three causes open alike.",
        "One author wrote the texts and the detectors. "
        "Precision depends on how many cases are of which kind. Intervals are clustered by piece of work.",
    ),
    generator="misstep_harness.reflexive.reflections.generate_reflections",
)


@made_by_this
def plateau_generated_table(detectors: Sequence[DetectorAnswers], source: str, notes: Sequence[str] = ()) -> Table:
    """Return every detector on generated reflections: precision, recall, false alarms, share of each kind."""
    scores = [plateau_scores(detector) for detector in detectors]
    named = {score.detector: score for score in scores}
    cases = max(len(detector.answers) for detector in detectors)
    exact, keywords = named[_EXACT], named[_KEYWORDS]
    best = max((score for score in scores if score.precision.value is not None), key=_balance)
    return _PLATEAU_GENERATED.table(
        (
            f"On {cases:,} generated cases of three reflections, keywords see "
            f"{with_interval(keywords.recall, 'share')} of the repeated diagnoses and equality of first sentences "
            f"{with_interval(exact.recall, 'share')}; of what keywords see, "
            f"{with_interval(keywords.precision, 'share')} are repeats. What sees most repeats for its false alarms is "
            f"{best.detector}: {with_interval(best.recall, 'share')} against "
            f"{with_interval(best.false_alarms, 'share')} of several diagnoses."
        ),
        _rows_of_plateau(scores, source, "generated"),
        (*notes,),
        drawn=_figures(scores, source, "generated"),
    )


def _balance(scores: PlateauScores) -> float:
    return (scores.recall.value or 0.0) - (scores.false_alarms.value or 0.0)


_PLATEAU_QUOTED = TableHead(
    "plateau_quoted",
    _SLUG_of_plateau,
    "Detectors of plateaus on quoted reflections",
    (
        "Which texts are one diagnosis is one person's judgement.",
        "Few are seen because few texts are whole reflections: most are a first sentence, a pattern cut at 80 "
        "characters, or a few words in which the authors sum up what reflections said. What the authors say shares "
        "hardly a word with what the reflector said: the table tells the two apart.",
        "Which texts came in a row is not known: each is the last of threes that are drawn. Intervals are over "
        "groups of the last; as texts recur in many threes they are still too narrow.",
        "The words that keywords leave out were listed with these texts known: nothing here was held out.",
    ),
)


@made_by_this
def plateau_quoted_table(detectors: Sequence[DetectorAnswers], notes: Sequence[str] = ()) -> Table:
    """Return every detector on threes of the texts that the project's pages quote."""
    scores = [plateau_scores(detector) for detector in detectors]
    named = {score.detector: score.recall for score in scores}
    return _PLATEAU_QUOTED.table(
        f"Of threes of quoted texts that one person holds to be one diagnosis, keywords see "
        f"{with_interval(named[_KEYWORDS], 'share')}, embeddings {with_interval(named[_EMBEDDINGS], 'share')} and "
        f"equality {with_interval(named[_EXACT], 'share')}.",
        _rows_of_plateau(scores, f"{_DATASET}, reflections.jsonl", "real"),
        (*notes,),
        datasets=(_DATASET,),
        drawn=_figures(scores, _DATASET, "real"),
    )


def _figures(scores: Sequence[PlateauScores], source: str, evidence: Evidence) -> list[Row]:
    parts = {
        _PRECISION: {score.detector: score.precision for score in scores},
        _RECALL: {score.detector: score.recall for score in scores},
        _FALSE: {score.detector: score.false_alarms for score in scores},
    }
    return [row for heading, shares in parts.items() for row in rows_in("share", shares, heading, source, evidence)]


def _rows_of_plateau(scores: Sequence[PlateauScores], source: str, evidence: Evidence) -> list[Row]:
    kinds = {kind: same for score in scores for kind, (same, _) in score.kinds.items()}
    return _figures(scores, source, evidence) + [
        estimate_row(score.detector, score.kinds[kind][1], "share", _heading(kind, same), source, evidence)
        for kind, same in kinds.items()
        for score in scores
        if score.kinds
    ]


def _heading(kind: str, same: bool) -> str:
    truth = "one diagnosis" if same else "several diagnoses"
    return f"Seen as a plateau: {kind.replace('_', ' ')} ({truth})"


_PLATEAU_EXAMPLES = TableHead(
    "plateau_examples",
    _SLUG_of_plateau,
    "Detectors of plateaus on what the pages call the same, or not the same",
    (
        "Two threes of the partition overlap, and examples that authors choose are not sample.",
        "As printed, the words pattern, root and cause of the common form suffice for a plateau by themselves.",
    ),
)


@made_by_this
def plateau_examples_table(examples: Sequence[PlateauExample]) -> Table:
    """Return each detector's answers on threes that the pages call the same or not."""
    right = {name: sum(example.flagged[name] == example.same for example in examples) for name in examples[0].flagged}
    return _PLATEAU_EXAMPLES.table(
        f"Of {len(examples)} threes of which the pages say whether they are one diagnosis, keywords are right on "
        f"{right[_KEYWORDS]}, keywords as the project prints them on {right['keywords, as printed']}, and equality on "
        f"{right[_EXACT]}.",
        (
            Row(
                name,
                "a plateau" if flagged else "no plateau",
                source=f"{_DATASET}, reflections.jsonl",
                unit="text",
                group=f"{example.name} (said {'' if example.same else 'not '}to be the same)",
            )
            for example in examples
            for name, flagged in example.flagged.items()
        ),
        datasets=(_DATASET,),
    )
