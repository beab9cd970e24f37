"""Agent-as-a-Judge: the verdicts of people and of the judge in the folder give the published figures."""

from collections import Counter
from pathlib import Path

import pytest

from harness.errors import InputError
from tests.harness.datasets.loaded import Loaded, load, write

AGENTS = ("MetaGPT", "GPT-Pilot", "OpenHands")
HEADER = "developer_agent,instance,requirement_id,category,prerequisites,human_satisfied,agent_judge_satisfied"


@pytest.fixture(scope="module")
def loaded(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return load("agent_as_a_judge", data_folder / "agent_as_a_judge", tmp_path_factory.mktemp("loaded"))


def satisfied(loaded: Loaded, agent: str, rater: str) -> dict[str, bool]:
    """Item → whether a rater found the requirement met, for one developer agent."""
    return {
        item.id: loaded.gold[item.id, rater] == "satisfied"
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
def test_every_requirement_is_an_item_with_two_raters(loaded: Loaded) -> None:
    per_agent = Counter(item.extra["developer_agent"] for item in loaded.items.values())
    assert per_agent == dict.fromkeys(AGENTS, 366)
    assert Counter(rater for _, rater in loaded.gold) == {"human_consensus": 1098, "agent_judge": 1098}
    assert len({item.task.partition("_")[0] for item in loaded.items.values()}) == 55
    assert sum(item.extra["category"] is None for item in loaded.items.values()) == 3


@pytest.mark.data
@pytest.mark.parametrize(
    ("agent", "alignment", "confusion", "kappa"),
    [
        ("MetaGPT", 92.08, (69, 17, 12, 268), 0.7751),
        ("GPT-Pilot", 86.61, (142, 28, 21, 175), 0.7301),
        ("OpenHands", 90.16, (140, 19, 17, 190), 0.7995),
    ],
)
def test_the_judge_agrees_with_people_as_far_as_published(
    loaded: Loaded, agent: str, alignment: float, confusion: tuple[int, int, int, int], kappa: float
) -> None:
    people = satisfied(loaded, agent, "human_consensus")
    judge = satisfied(loaded, agent, "agent_judge")
    cells = Counter((people[item], judge[item]) for item in people)
    tp, fp, fn, tn = cells[True, True], cells[False, True], cells[True, False], cells[False, False]
    n = len(people)
    observed = (tp + tn) / n
    expected = ((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)) / n**2
    assert (tp, fp, fn, tn) == confusion
    assert round(100 * observed, 2) == alignment
    assert round((observed - expected) / (1 - expected), 4) == kappa


@pytest.mark.data
@pytest.mark.parametrize(
    ("rater", "independent", "dependent"),
    [
        ("human_consensus", (22.13, 44.54, 42.90), (4.92, 27.60, 25.96)),
        ("agent_judge", (23.50, 46.45, 43.44), (3.28, 28.96, 24.86)),
    ],
)
def test_shares_of_requirements_met_alone_and_with_their_prerequisites(
    loaded: Loaded, rater: str, independent: tuple[float, ...], dependent: tuple[float, ...]
) -> None:
    verdicts = [satisfied(loaded, agent, rater) for agent in AGENTS]
    assert tuple(map(percent, verdicts)) == independent
    assert tuple(percent(with_prerequisites(loaded, of_agent)) for of_agent in verdicts) == dependent


@pytest.mark.data
def test_tasks_met_entirely_and_the_judge_that_always_says_no(loaded: Loaded) -> None:
    whole, always_no = [], []
    for agent in AGENTS:
        people = satisfied(loaded, agent, "human_consensus")
        tasks: dict[str, bool] = {}
        for item, met in with_prerequisites(loaded, people).items():
            tasks[loaded.items[item].task] = tasks.get(loaded.items[item].task, True) and met
        assert len(tasks) == 55
        whole.append(sum(tasks.values()))
        always_no.append(percent({item: not met for item, met in people.items()}))
    assert whole == [0, 5, 1]
    assert always_no == [77.87, 55.46, 57.10]


def test_an_item_names_its_prerequisites_by_their_ids_and_an_empty_category_is_missing(tmp_path: Path) -> None:
    table = f"{HEADER}\nSome,t1,0,,,True,False\nSome,t1,1,Other,0,False,False\n"
    made_up = load("agent_as_a_judge", write(tmp_path / "upstream", {"judgements.csv": table}), tmp_path)
    assert made_up.items["Some/t1/1"].extra["prerequisites"] == ["Some/t1/0"]
    assert made_up.items["Some/t1/0"].extra["category"] is None
    assert made_up.gold["Some/t1/0", "human_consensus"] == "satisfied"
    assert made_up.gold["Some/t1/0", "agent_judge"] == "unsatisfied"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"preferences.csv": "developer_agent\n"}, ("judgements.csv", "missing")),
        ({"judgements.csv": "developer_agent,instance\nSome,t1\n"}, ("judgements.csv:1", "requirement_id")),
        ({"judgements.csv": f"{HEADER}\nSome,t1,0,,,perhaps,False\n"}, ("judgements.csv:2", "human_satisfied")),
        ({"judgements.csv": f"{HEADER}\nSome,t1,0,,7,True,False\n"}, ("judgements.csv", "prerequisites", "Some/t1/7")),
    ],
)
def test_a_broken_table_is_an_error_that_names_file_and_field(
    tmp_path: Path, files: dict[str, str], words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as raised:
        load("agent_as_a_judge", write(tmp_path / "upstream", files), tmp_path)
    assert all(word in raised.value.line() for word in words)
