"""The documents of commands about judges."""

from misstep.analysis.measures.judging.assessment import Assessment
from misstep.analysis.measures.judging.calibration.calibrated_scores import CalibratedScores
from misstep.analysis.measures.judging.calibration.precision_threshold import PrecisionThreshold
from misstep.analysis.measures.judging.drift import FigureDrift
from misstep.analysis.measures.judging.pairs.comparison import PairedJudges
from misstep.analysis.measures.judging.pairs.flips import Flips
from misstep.analysis.measures.judging.pairs.probes import Probes
from misstep.analysis.measures.judging.pairs.ranking import RankStability
from misstep.analysis.measures.judging.pairs.stability import Stability
from misstep.analysis.measures.judging.people.gold_policies import PoliciesCompared
from misstep.analysis.measures.judging.sample import Level
from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.text_groups import GroupedTexts
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Evidence
from misstep.harness.runs.judging.judge_once import Asked
from misstep.judge.list import ListedJudge
from misstep.schema.forms import Form, fields_of, optional
from misstep.studies.judging.ranked_systems import RankedSystems

SHARD = {"shard": int, "shards": int, "n": int, "folder": str}
SCORES = {**fields_of(Scores), **fields_of(Assessment, "scores")}
_COMPARED = {
    name: kind
    for name, kind in fields_of(Scores).items()
    if name in {"n", "answered", "accuracy", "accuracy_all", "cohen_kappa", "cost_usd", "seconds"}
}

DOCUMENTS: dict[str, Form] = {
    "judge list": [ListedJudge],
    "judge run": (SCORES, SHARD),
    "judge import": SCORES,
    "judge ask": Asked,
    "judge check": {
        "file": str,
        "human": [str],
        "positive": str,
        "level": Level,
        "remarks": [str],
        "judges": {"*": {**SCORES, "true_positive_rate?": Estimate, "true_negative_rate?": Estimate}},
        "pairs": [PairedJudges],
    },
    "judge calibrate": {
        "run": str,
        "evidence": Evidence,
        **optional(fields_of(PrecisionThreshold)),
        "scores?": CalibratedScores,
    },
    "judge compare": {
        "benchmark": str,
        "pairs": [PairedJudges],
        "runs": [{"run": str, "judge": str, "model": str | None, **_COMPARED}],
    },
    "judge rank": (
        {"benchmark": str, "ranking": RankStability},
        fields_of(RankedSystems, "evidence"),
    ),
    "judge policies": {"benchmark": str, "policies": PoliciesCompared},
    "judge stability": {"runs": [str], "benchmark": str, "stability": Stability},
    "judge drift": {
        "old": str,
        "figures": {"*": [{"run": str, **fields_of(FigureDrift)}]},
        "changed": {"*": {"*": [str]}},
        "left_out": {"*": int},
        "evidence": Evidence,
    },
    "judge inject": Flips,
    "judge probe": Probes,
    "group": GroupedTexts,
}
