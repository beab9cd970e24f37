"""Detectors of plateaus compared: on generated reflections with known truth, and on those that the pages quote."""

from collections.abc import Sequence

from misstep_analysis.reflexive.plateaus import DetectorAnswers, PlateauExample, PlateauScores, plateau_scores
from misstep_analysis.tables import Evidence, Row, Table, TableHead, estimate_row, made_by_this, rows_in
from misstep_analysis.tables.wording import with_interval

_SLUG, _DATASET = "reflexive", "gemmaforge"
_KEYWORDS, _EXACT, _EMBEDDINGS = "keywords", "exact", "embeddings"
_PRECISION, _RECALL, _FALSE = (
    "Precision: of the plateaus seen, those that are one diagnosis",
    "Recall: of the cases of one diagnosis, those seen",
    "False alarms: of the cases of several diagnoses, those seen as one",
)


_PLATEAU_GENERATED = TableHead(
    "plateau_generated",
    _SLUG,
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
    scores = [plateau_scores(one) for one in detectors]
    named = {one.detector: one for one in scores}
    cases = max(len(one.answers) for one in detectors)
    exact, keywords = named[_EXACT], named[_KEYWORDS]
    best = max((one for one in scores if one.precision.value is not None), key=_balance)
    return _PLATEAU_GENERATED.table(
        (
            f"On {cases:,} generated cases of three reflections, keywords see "
            f"{with_interval(keywords.recall, 'share')} of the repeated diagnoses and equality of first sentences "
            f"{with_interval(exact.recall, 'share')}; of what keywords see, "
            f"{with_interval(keywords.precision, 'share')} are repeats. What sees most repeats for its false alarms is "
            f"{best.detector}: {with_interval(best.recall, 'share')} against "
            f"{with_interval(best.false_alarms, 'share')} of several diagnoses."
        ),
        _rows(scores, source, "generated"),
        (*notes,),
        drawn=_figures(scores, source, "generated"),
    )


def _balance(scores: PlateauScores) -> float:
    return (scores.recall.value or 0.0) - (scores.false_alarms.value or 0.0)


_PLATEAU_QUOTED = TableHead(
    "plateau_quoted",
    _SLUG,
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
    scores = [plateau_scores(one) for one in detectors]
    named = {one.detector: one.recall for one in scores}
    return _PLATEAU_QUOTED.table(
        f"Of threes of quoted texts that one person holds to be one diagnosis, keywords see "
        f"{with_interval(named[_KEYWORDS], 'share')}, embeddings {with_interval(named[_EMBEDDINGS], 'share')} and "
        f"equality {with_interval(named[_EXACT], 'share')}.",
        _rows(scores, f"{_DATASET}, reflections.jsonl", "real"),
        (*notes,),
        datasets=(_DATASET,),
        drawn=_figures(scores, _DATASET, "real"),
    )


def _figures(scores: Sequence[PlateauScores], source: str, evidence: Evidence) -> list[Row]:
    parts = {
        _PRECISION: {one.detector: one.precision for one in scores},
        _RECALL: {one.detector: one.recall for one in scores},
        _FALSE: {one.detector: one.false_alarms for one in scores},
    }
    return [row for heading, shares in parts.items() for row in rows_in("share", shares, heading, source, evidence)]


def _rows(scores: Sequence[PlateauScores], source: str, evidence: Evidence) -> list[Row]:
    kinds = {kind: same for one in scores for kind, (same, _) in one.kinds.items()}
    return _figures(scores, source, evidence) + [
        estimate_row(one.detector, one.kinds[kind][1], "share", _heading(kind, same), source, evidence)
        for kind, same in kinds.items()
        for one in scores
        if one.kinds
    ]


def _heading(kind: str, same: bool) -> str:
    truth = "one diagnosis" if same else "several diagnoses"
    return f"Seen as a plateau: {kind.replace('_', ' ')} ({truth})"


_PLATEAU_EXAMPLES = TableHead(
    "plateau_examples",
    _SLUG,
    "Detectors of plateaus on what the pages call the same, or not the same",
    (
        "Two threes of the partition overlap, and examples that authors choose are not sample.",
        "As printed, the words pattern, root and cause of the common form suffice for a plateau by themselves.",
    ),
)


@made_by_this
def plateau_examples_table(examples: Sequence[PlateauExample]) -> Table:
    """Return each detector's answers on threes that the pages call the same or not."""
    right = {name: sum(one.flagged[name] == one.same for one in examples) for name in examples[0].flagged}
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
                group=f"{one.name} (said {'' if one.same else 'not '}to be the same)",
            )
            for one in examples
            for name, flagged in one.flagged.items()
        ),
        datasets=(_DATASET,),
    )
