"""The documents of commands about judges."""

from misstep.judge.list import ListedJudge
from misstep.judge.one_item import Asked
from misstep_analysis.judging.assessment import Assessment
from misstep_analysis.judging.calibrated_scores import CalibratedScores
from misstep_analysis.judging.comparison import PairedJudges
from misstep_analysis.judging.drift import FigureDrift
from misstep_analysis.judging.precision_threshold import PrecisionThreshold
from misstep_analysis.judging.probes import Probes
from misstep_analysis.judging.sample import Level
from misstep_analysis.judging.scores import Scores
from misstep_analysis.judging.stability import Stability
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Evidence
from scripts.schemas.forms import Form, fields_of, optional

SCORES = {**fields_of(Scores), **fields_of(Assessment, "scores")}
_COMPARED = {
    name: kind
    for name, kind in fields_of(Scores).items()
    if name in {"n", "answered", "accuracy", "accuracy_all", "cohen_kappa", "cost_usd", "seconds"}
}

DOCUMENTS: dict[str, Form] = {
    "judge list": [ListedJudge],
    "judge run": SCORES,
    "judge import": SCORES,
    "judge ask": Asked,
    "judge check": (
        {
            "file": str,
            "human": [str],
            "positive": str,
            "level": Level,
            "remarks": [str],
            "judges": {"*": {**SCORES, "true_positive_rate?": Estimate, "true_negative_rate?": Estimate}},
            "pairs": [PairedJudges],
        },
        SCORES,
    ),
    "judge calibrate": {
        "run": str,
        "evidence": Evidence,
        **optional(fields_of(PrecisionThreshold)),
        "scores?": CalibratedScores,
    },
    "judge compare": (
        {
            "benchmark": str,
            "pairs": [PairedJudges],
            "runs": [{"run": str, "judge": str, "model": str | None, **_COMPARED}],
        },
        {"runs": [str], "benchmark": str, "stability": Stability},
    ),
    "judge drift": {
        "old": str,
        "figures": {"*": [{"run": str, **fields_of(FigureDrift)}]},
        "changed": {"*": {"*": [str]}},
        "left_out": {"*": int},
        "evidence": Evidence,
    },
    "judge probe": Probes,
}
