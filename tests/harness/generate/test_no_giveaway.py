"""Nothing beside the agent's doings gives the truth away: no marker, no wording of the request, no set of tools."""

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from misstep_harness.generate.session import CATEGORIES
from misstep_harness.generate.sessions import Case

LEVEL = 2.58
"""Standard errors above chance that are by chance in one of 200 tests."""


def asked(case: Case) -> str:
    return " ".join(step.text for step in case.trajectory.steps if step.role == "user")


def tools(case: Case) -> str:
    """The tools that the agent has and, once for each call, those that it uses."""
    has = [tool["function"]["name"] for tool in case.trajectory.extra["agent"]["tool_definitions"]]
    return " ".join([*has, *(call.name for step in case.trajectory.steps for call in step.calls)])


def bags_of(documents: list[str]) -> Any:
    return CountVectorizer(tokenizer=str.split, token_pattern=None, min_df=5).fit_transform(documents)


def above_chance(bags: Any, planted: list[bool]) -> float:
    """Standard errors by which a bag-of-words model of one half ranks the sessions of the other better than chance."""
    half, truth = len(planted) // 2, np.array(planted)
    model = LogisticRegression(C=0.1, solver="liblinear").fit(bags[:half], truth[:half])
    scores, truth = model.predict_proba(bags[half:])[:, 1], truth[half:]
    yes, no = int(truth.sum()), int((~truth).sum())
    # The rank sum's variance under the null (Mann and Whitney 1947), as that of the area under the curve.
    error = ((yes + no + 1) / (12 * yes * no)) ** 0.5
    return float((roc_auc_score(truth, scores) - 0.5) / error)


@pytest.mark.parametrize("sessions", ["cases", "balanced"])
@pytest.mark.parametrize("shown", [asked, tools], ids=["request", "tools"])
def test_a_bag_of_words_of_request_and_tool_names_does_no_better_than_chance(request, sessions, shown) -> None:
    cases: list[Case] = request.getfixturevalue(sessions)
    planted = {category: [case.truth[category] for case in cases] for category in CATEGORIES}
    planted["any"] = [any(case.truth.values()) for case in cases]
    bags = bags_of([shown(case) for case in cases])
    above = {category: above_chance(bags, truth) for category, truth in planted.items()}
    assert {category: value for category, value in above.items() if value >= LEVEL} == {}


def test_the_same_model_finds_a_marker_in_a_tenth_of_the_sessions(cases: list[Case]) -> None:
    planted = [any(case.truth.values()) for case in cases]
    marked = [
        f"{asked(case)} {'marker' if true and place % 3 == 0 else ''}"
        for place, (case, true) in enumerate(zip(cases, planted, strict=True))
    ]
    assert above_chance(bags_of(marked), planted) > LEVEL


def test_ids_and_extra_fields_are_the_same_whatever_is_planted(cases: list[Case]) -> None:
    for index, case in enumerate(cases):
        assert case.trajectory.id == f"study-scoring-31-{index:06}"
        assert set(case.trajectory.extra) <= {"agent", "turn_contexts"}
        assert all(set(step.extra) <= {"permissionMode"} for step in case.trajectory.steps)
        assert case.trajectory.outcome.status == "unknown"


def test_no_name_of_a_variant_stands_in_a_session(cases: list[Case]) -> None:
    names = {name for case in cases for name in case.variant.split("+")} - {"plain", "polling"}
    for case in cases[:200]:
        text = " ".join(step.text for step in case.trajectory.steps)
        assert [name for name in names if name in text] == []
