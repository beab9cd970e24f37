"""Relations between steps: counts and comparisons are as recounted, labels stand at the steps that they relate."""

import json
from collections import Counter
from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from tests.harness.datasets.loaded import Loaded, load, write

RELATIONS = ("action_action", "thought_thought", "thought_action", "result_action", "result_thought")
AGENTS = ("AutoCodeRover", "OpenHands", "RepairAgent")


@pytest.fixture(scope="module")
def study(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Loaded]:
    main = load("llm_agents_study", data_folder / "llm_agents_study", tmp_path_factory.mktemp("loaded"))
    return by_question(main)


def by_question(main: Loaded) -> dict[str, Loaded]:
    folders = {folder.name: Loaded(folder) for folder in main.folder.parent.iterdir()}
    return {"action_action": main} | {name.partition("-")[2]: one for name, one in folders.items() if "-" in name}


def share(question: Loaded, agent: str, label: str, outcome: str | None = None) -> tuple[int, int]:
    """How many items of an agent's runs have a label, of how many."""
    labels = [
        given
        for (name, _), given in question.gold.items()
        if name.startswith(f"{agent}/")
        and outcome in (None, question.trajectories[str(question.items[name].trajectory_id)].outcome.status)
    ]
    return labels.count(label), len(labels)


@pytest.mark.data
def test_there_are_13_486_relations_and_2_737_categories_over_120_runs(study: dict[str, Loaded]) -> None:
    assert sum(len(study[relation].gold) for relation in RELATIONS) == 13_486
    categories = study["action_category"]
    assert Counter(item.partition("/")[0] for item, _ in categories.gold) == dict(
        zip(AGENTS, (218, 1108, 1411), strict=True)
    )
    labelled = {item.trajectory_id for item in categories.items.values()}
    outcomes = Counter(
        (name.partition("/")[0], categories.trajectories[str(name)].outcome.status) for name in labelled if name
    )
    assert outcomes == {(agent, status): n for agent in AGENTS for status, n in (("passed", 10), ("failed", 30))}


@pytest.mark.data
@pytest.mark.parametrize(
    ("relation", "label", "counts"),
    [
        ("action_action", "Repetition", [(12, 178), (34, 1073), (169, 1380)]),
        ("thought_action", "Misalignment", [(8, 217), (14, 1113), (21, 1420)]),
        ("result_thought", "Misinterpretation", [(0, 180), (44, 1106), (51, 1413)]),
    ],
)
def test_unwanted_relations_are_as_frequent_as_recounted(study, relation, label, counts) -> None:
    assert [share(study[relation], agent, label) for agent in AGENTS] == counts


@pytest.mark.data
def test_every_action_is_parsed(study: dict[str, Loaded]) -> None:
    calls = [call for run in study["action_action"].trajectories.values() for step in run.steps for call in step.calls]
    assert len(calls) > 3000
    assert not [call for call in calls if call.parse_error]


@pytest.mark.data
def test_labels_are_placed_only_where_their_number_fits_the_run(study: dict[str, Loaded]) -> None:
    unplaced = {relation: sum(item.step is None for item in study[relation].items.values()) for relation in RELATIONS}
    assert unplaced["action_action"] == unplaced["thought_thought"] == 0
    assert 0 < unplaced["thought_action"] < len(study["thought_action"].items) / 10
    for question in study.values():
        for item in question.items.values():
            assert item.step is None or item.step < len(question.trajectories[str(item.trajectory_id)].steps)


@pytest.mark.data
def test_what_a_result_leads_to_cannot_be_asked_as_the_results_are_not_published(study: dict[str, Loaded]) -> None:
    asked = {name: sum(not item.skip_reason for item in question.items.values()) for name, question in study.items()}
    assert asked["result_action"] == asked["result_thought"] == 0
    assert asked["action_action"] == 2631
    assert asked["thought_action"] == 2750 - 145
    assert not [step for run in study["action_action"].trajectories.values() for step in run.steps if step.results]


HEADER = "agent,instance,resolved,relation,position,label\n"
LABELS, TEXTS = "relation_labels__csv", "thoughts_actions_openhands__jsonl__gz"
TEXT = (
    "Iteration 0: Thought=Look.; Action={'name': 'ls', 'args': {}}\n---\nIteration 1: Thought=Look.; Action={}\n---\n"
)


def made_up(**changed: str) -> dict[str, str]:
    rover = 'Thought at Iteration 0: Look.\nAction at Iteration 0: search("a")\n'
    files = {
        "relation_labels.csv": f"{HEADER}"
        "OpenHands,repo-1,resolved,action_action,0,Repetition\n"
        "RepairAgent,Lang_1,unresolved,thought_action,0,Alignment\n"
        "RepairAgent,Lang_1,unresolved,thought_action,1,Alignment\n"
        "RepairAgent,Lang_1,unresolved,result_thought,0,Refinement\n"
        "RepairAgent,Lang_1,unresolved,result_thought,1,Refinement\n",
        "action_categories.csv": "agent,instance,resolved,iteration,category\nOpenHands,repo-1,resolved,1,Search\n",
        "thoughts_actions_autocoderover.jsonl.gz": json.dumps({"instance": "repo-9", "text": rover}),
        "thoughts_actions_openhands.jsonl.gz": json.dumps({"instance": "repo-1", "text": TEXT}),
        "thoughts_actions_repairagent.jsonl.gz": json.dumps({"instance": "experiment_4_Lang_1", "text": TEXT}),
    }
    return files | {name.replace("__", "."): text for name, text in changed.items()}


def test_a_relation_is_at_its_iteration_or_the_later_one_and_labels_that_do_not_fit_the_pairs_nowhere(tmp_path) -> None:
    main = load("llm_agents_study", write(tmp_path / "up", made_up()), tmp_path / "out")
    made = by_question(main)
    steps = {name: [item.step for item in question.items.values()] for name, question in made.items()}
    assert steps["action_action"] == steps["action_category"] == [1]
    assert (steps["thought_action"], steps["result_thought"]) == ([0, 1], [None, None])
    assert {name: run.outcome.status for name, run in main.trajectories.items()} == {
        "AutoCodeRover/repo-9": "unknown",
        "OpenHands/repo-1": "passed",
        "RepairAgent/Lang_1": "failed",
    }


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (LABELS, f"{HEADER}OpenHands,repo-2,resolved,action_action,0,Repetition\n", "repo-2 has labels, but no text"),
        (TEXTS, '{"instance": "repo-1", "text": "Nothing."}', r"openhands\.jsonl\.gz:1: the text has no iteration"),
    ],
)
def test_what_does_not_fit_is_named_with_its_file(tmp_path: Path, file: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load("llm_agents_study", write(tmp_path / "up", made_up(**{file: text})), tmp_path / "out")
