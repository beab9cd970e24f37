"""Agent-as-a-Judge: the verdicts of people and of the judge in the folder give the published figures."""

from collections import Counter
from pathlib import Path

import pytest

from misstep_harness.datasets import recorded_verdicts
from tests.harness.datasets.loaded import Loaded, assert_refused, load, public, write

AGENTS = ("MetaGPT", "GPT-Pilot", "OpenHands")
HEADER = "developer_agent,instance,requirement_id,category,prerequisites,human_satisfied,agent_judge_satisfied"
loaded = public("agent_as_a_judge")


@pytest.fixture(scope="module")
def judge(data_folder: Path) -> dict[str, str]:
    (verdicts,) = recorded_verdicts("agent_as_a_judge", data_folder / "agent_as_a_judge").values()
    return {verdict.item: str(verdict.label) for verdict in verdicts}


def people(loaded: Loaded) -> dict[str, str]:
    return {item: label for (item, _), label in loaded.gold.items()}


def satisfied(loaded: Loaded, agent: str, labels: dict[str, str]) -> dict[str, bool]:
    """Item → whether the requirement is met by some labels, for one developer agent."""
    return {
        item.id: labels[item.id] == "satisfied"
        for item in loaded.items.values()
        if item.extra["developer_agent"] == agent
    }


def with_prerequisites(loaded: Loaded, verdicts: dict[str, bool]) -> dict[str, bool]:
    """A requirement counts only when all that it builds on count."""

    def counts(item: str) -> bool:
        return verdicts[item] and all(counts(needed) for needed in loaded.items[item].extra["prerequisites"])

    return {item: counts(item) for item in verdicts}


def percent(values: dict[str, bool]) -> float:
    return round(100 * sum(values.values()) / len(values), 2)


@pytest.mark.data
def test_every_requirement_is_an_item_and_people_alone_give_its_gold_label(loaded: Loaded) -> None:
    per_agent = Counter(item.extra["developer_agent"] for item in loaded.items.values())
    assert per_agent == dict.fromkeys(AGENTS, 366)
    assert Counter(rater for _, rater in loaded.gold) == {"human_consensus": 1098}
    assert len({item.task.partition("_")[0] for item in loaded.items.values()}) == 55
    assert sum(item.extra["category"] is None for item in loaded.items.values()) == 3


@pytest.mark.data
def test_the_judge_has_a_verdict_on_every_item(loaded: Loaded, judge: dict[str, str]) -> None:
    assert judge.keys() == loaded.items.keys()


@pytest.mark.data
@pytest.mark.parametrize(
    ("rater", "independent", "dependent"),
    [
        ("human_consensus", (22.13, 44.54, 42.90), (4.92, 27.60, 25.96)),
        ("agent_judge", (23.50, 46.45, 43.44), (3.28, 28.96, 24.86)),
    ],
)
def test_shares_of_requirements_met_alone_and_with_their_prerequisites(loaded, judge, rater, independent, dependent):
    labels = {"human_consensus": people(loaded), "agent_judge": judge}[rater]
    verdicts = [satisfied(loaded, agent, labels) for agent in AGENTS]
    assert tuple(map(percent, verdicts)) == independent
    assert tuple(percent(with_prerequisites(loaded, of_agent)) for of_agent in verdicts) == dependent


def test_an_item_names_its_prerequisites_by_their_ids_and_an_empty_category_is_missing(tmp_path: Path) -> None:
    table = f"{HEADER}\nSome,t1,0,,,True,False\nSome,t1,1,Other,0,False,False\n"
    upstream = write(tmp_path / "upstream", {"judgements.csv": table})
    made_up = load("agent_as_a_judge", upstream, tmp_path)
    assert made_up.items["Some/t1/1"].extra["prerequisites"] == ["Some/t1/0"]
    assert made_up.items["Some/t1/0"].extra["category"] is None
    assert made_up.items["Some/t1/0"].extra["cluster"] == made_up.items["Some/t1/1"].extra["cluster"]
    assert made_up.gold["Some/t1/0", "human_consensus"] == "satisfied"
    (verdicts,) = recorded_verdicts("agent_as_a_judge", upstream).values()
    assert [(one.item, one.label) for one in verdicts] == [("Some/t1/0", "unsatisfied"), ("Some/t1/1", "unsatisfied")]


def test_a_prerequisite_that_is_not_in_the_table_is_an_error(tmp_path: Path) -> None:
    upstream = write(tmp_path / "upstream", {"judgements.csv": f"{HEADER}\nSome,t1,0,,7,True,False\n"})
    assert_refused("agent_as_a_judge", upstream, tmp_path, ("judgements.csv", "prerequisites", "Some/t1/7"))
