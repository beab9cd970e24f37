"""How well detectors of plateaus tell whether three reflections are one diagnosis."""

from collections.abc import Iterable

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.units import BoolArray, units_of
from misstep_analysis.stats.estimate import Estimate

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
    units = units_of([one.case for one in answers], {one.case: one.cluster for one in answers})
    same, flagged = (_array(values) for values in zip(*((one.same, one.flagged) for one in answers), strict=True))
    kinds = {one.kind: one.same for one in answers}
    return PlateauScores(
        detector.detector,
        units.share(same, flagged, NOTHING_SEEN),
        units.share(flagged, same, NO_PLATEAU),
        units.share(flagged, ~same, ALL_PLATEAUS),
        {
            kind: (truth, units.share(flagged, _array(one.kind == kind for one in answers), ""))
            for kind, truth in kinds.items()
        },
    )


def _array(values: Iterable[bool]) -> BoolArray:
    return np.array(list(values), dtype=np.bool_)
