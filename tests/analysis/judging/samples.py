"""Made-up judges and raters, written down as answers and labels, an item a place."""

from collections.abc import Mapping, Sequence

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.sample import JudgedSample, Level, judged_sample
from misstep_harness.verdict import Verdict

YES_NO = ("yes", "no")


def verdicts(answers: Sequence[str | None], scores: Sequence[float | None] = ()) -> list[Verdict]:
    """A verdict an item; `None` is unreadable."""
    given = scores or [None] * len(answers)
    return [
        Verdict(f"i{place}", "strict", answer, "answered" if answer else "unreadable", score=score)
        for place, (answer, score) in enumerate(zip(answers, given, strict=True))
    ]


def labels_of(raters: Mapping[str, Sequence[str | None]]) -> list[GoldLabel]:
    """Rater → labels, `None` where a rater gave none."""
    return [
        GoldLabel(f"i{place}", rater, label)
        for rater, labels in raters.items()
        for place, label in enumerate(labels)
        if label is not None
    ]


def judged(
    answers: Sequence[str | None],
    raters: Mapping[str, Sequence[str | None]] | Sequence[str | None],
    labels: Sequence[str] = YES_NO,
    *,
    scores: Sequence[float | None] = (),
    runs: int = 0,
    positive: str = "yes",
    level: Level = "nominal",
) -> JudgedSample:
    """A judge's answers beside people's labels, or one person's; so many items in a row are of one run, if `runs`."""
    given = raters if isinstance(raters, Mapping) else {"people": raters}
    clusters = {f"i{place}": f"run {place // runs}" for place in range(len(answers))} if runs else None
    return judged_sample(
        verdicts(answers, scores), labels_of(given), labels, clusters=clusters, positive=positive, level=level
    )


def again(times: int, values: Sequence[str | None]) -> list[str | None]:
    """Each value so many times in a row: items that say nothing new."""
    return [value for value in values for _ in range(times)]
