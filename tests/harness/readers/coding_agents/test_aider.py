"""Aider chat histories: runs, speakers, edits as calls, and what the program says of them as results."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.protocols import Sample
from misstep_harness.readers.coding_agents import aider
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("aider", "app/.aider.chat.history.md")


def read(text: str) -> list[Trajectory]:
    return list(aider.read(text.encode(), SOURCE))


def run(text: str) -> Trajectory:
    (trajectory,) = read("# aider chat started at 2026-01-05 10:00:00\n\n" + text)
    return trajectory


def test_the_sample_is_two_runs_with_edit_blocks_as_calls_and_what_is_said_of_them_as_results() -> None:
    first, second = aider.read(recording_of("aider"), SOURCE)
    assert (first.id, second.id) == ("aider-2026-01-05T10:00:00", "aider-2026-01-06T09:00:00")
    assert (first.agent, first.model, first.task) == ("aider", "gpt-x", "Rename the flag\nin both files")
    assert [step.role for step in first.steps] == ["system", "user", "agent", "system"]
    assert [(step.role, step.text) for step in second.steps] == [
        ("user", "What does the flag do?"),
        ("agent", "It is loud."),
    ]
    step = first.steps[2]
    assert [call.arguments for call in step.calls] == [
        {"path": "cli.py", "search": "verbose = False", "replace": "loud = False"},
        {"path": "main.py", "search": "print(verbos)", "replace": "print(loud)"},
    ]
    applied, failed = step.results
    assert (applied.call_id, applied.is_error, applied.text) == (step.calls[0].id, False, "Applied edit to cli.py")
    assert (failed.call_id, failed.is_error) == (step.calls[1].id, True)
    assert "failed to exactly match lines in main.py" in failed.text
    assert step.tokens == Tokens(prompt=2500, completion=36, cost_usd=0.0014)


def test_runs_that_started_in_the_same_second_have_names_of_their_own() -> None:
    started = "# aider chat started at 2026-01-05 10:00:00\n\n#### hi\n\n"
    assert [trajectory.id for trajectory in read(started * 3)] == [
        "aider-2026-01-05T10:00:00",
        "aider-2026-01-05T10:00:00-2",
        "aider-2026-01-05T10:00:00-3",
    ]


BLOCK = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"
EDIT = {"path": "a.py", "search": "x", "replace": "y"}


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("Here:\n\na.py\n```\nx\n```\n\n> Applied edit to a.py  \n", [{"path": "a.py", "content": "x"}]),
        ("Done.\n\n> Applied edit to a.py  \n", [{"path": "a.py"}]),  # of which the model gave nothing
        ("```python\na.py\n<<<<<<< ORIGINAL\nx\n=======\ny\n>>>>>>> UPDATED\n```\n", [EDIT]),
        (f"a.py\n```\n{BLOCK}{BLOCK}```\n", [EDIT, EDIT]),  # without a name: of the file before
        ("a.py\n```\n<<<<<<< SEARCH\nx\n=======\n\n> ^C KeyboardInterrupt  \n", []),
    ],
)
def test_an_edit_is_a_whole_file_or_a_finished_block(text: str, edits: list[dict[str, str]]) -> None:
    step = run(f"#### Go\n\n{text}").steps[1]
    assert [call.arguments for call in step.calls] == edits
    assert {result.is_error for result in step.results} <= {False}


def test_a_quotation_inside_a_fence_is_the_models_what_aider_says_is_not() -> None:
    trajectory = run("#### Go\n\n```text\n> quoted\n```\n\n```\nunfinished\n> Applied edit to a.py  \n")
    assert trajectory.steps[1].text == "```text\n> quoted\n```\n\n```\nunfinished"
    assert [result.text for result in trajectory.steps[1].results] == ["Applied edit to a.py"]


def test_thinking_is_reasoning() -> None:
    tag = "thinking-content-7bbeb8e1441453ad"
    trajectory = run(f"#### Go\n\n<{tag}>\n\n> Do I quote?\n```\n\n</{tag}>\n\nYes.\n")
    assert (trajectory.steps[1].reasoning, trajectory.steps[1].text) == ("> Do I quote?\n```", "Yes.")


def test_a_command_line_that_goes_on_is_the_programs() -> None:
    trajectory = run("> /usr/bin/aider --message Fix it\n\nand test it --yes  \n> Aider v0.86.0  \n\n#### Fix it\n")
    assert [step.role for step in trajectory.steps] == ["system", "user"]
    assert "and test it" in trajectory.steps[0].text


def test_a_published_page_is_read_without_its_markup() -> None:
    page = '---\nnav: 3\n---\n\n# A chat\n\n<div class="chat-transcript">\n\n> $ aider a.py  \n\n'
    page += "#### Go  \n\nYes.\n\n</div>\n"
    (trajectory,) = read(page)
    assert [step.role for step in trajectory.steps] == ["system", "user", "agent"]
    assert trajectory.steps[2].text == "Yes."
    assert len(trajectory.extra["page_markup"]) == 2


def test_bytes_that_are_not_utf_8_are_named_with_their_line() -> None:
    with pytest.raises(UnreadableTrajectory, match="not UTF-8") as raised:
        list(aider.read(b"# aider chat started at 2026\n#### gr\xf6sser\n", SOURCE))
    assert raised.value.line_number == 2


def test_markers_and_spaces_without_end_take_no_time() -> None:
    hostile = "<<<<<<< SEARCH" + " " * 200_000 + "x\n" + "> failed to match lines in" + " " * 200_000 + "x \n"
    assert run("#### Go\n\n" + hostile).steps


def test_a_history_may_be_the_text_of_a_field_one_record_a_line() -> None:
    record = {
        "instance_id": "x-1",
        "chat": "\n# aider chat started at 2026-01-05 10:00:00\n\n#### Rename it  \n\nDone.\n",
    }
    assert aider.refuse(Sample(Path("a.jsonl"), "lines", record, "")) is None
    assert aider.refuse(Sample(Path("a.jsonl"), "lines", {"chat": "Hello."}, ""))
    (run,) = aider.read(json.dumps(record | {"score": 1}).encode(), Source("aider", "a.jsonl", 4))
    assert (run.id, run.source.line, run.extra["score"]) == ("x-1-2026-01-05T10:00:00", 4, 1)
    assert [(step.role, step.text) for step in run.steps] == [("user", "Rename it"), ("agent", "Done.")]


def test_what_the_program_says_of_many_edits_is_looked_up_and_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []

    class Counting:
        """The pattern of a failed match, which counts how many lines it is asked about."""

        def __init__(self, pattern: Any) -> None:
            self._pattern = pattern

        def search(self, line: str) -> Any:
            looked_at.append(1)
            return self._pattern.search(line)

    monkeypatch.setattr(aider, "_FAILED", Counting(aider._FAILED))
    block = "b{0}.py\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n"
    chat = "# aider chat started at 2026-01-05 10:00:00\n\n#### Go\n\n"
    chat += "".join(block.format(n) for n in range(200)) + "\n"
    chat += "".join(f"> failed to match lines in b{n}.py\n" for n in range(200))
    (trajectory,) = aider.read(chat.encode(), Source("aider", "chat.md"))
    results = trajectory.steps[1].results
    assert [result.text for result in results] == [f"failed to match lines in b{n}.py" for n in range(200)]
    assert len(looked_at) < 1000


def test_a_heading_or_quotation_of_the_model_is_the_models() -> None:
    answer = "Two parts:\n\n#### The flag\n\n> It was quiet.\n\nDone."
    steps = run(f"#### Go  \n\n{answer}\n\n> Tokens: 9 sent, 2 received.  \n").steps
    assert [(step.role, step.text) for step in steps] == [("user", "Go"), ("agent", answer)]


def test_a_block_that_the_program_quotes_is_no_call_and_the_blocks_that_were_applied_have_not_failed() -> None:
    good, bad = BLOCK.replace("x", "  p"), BLOCK.replace("x", "  q")
    complaint = (
        "> The LLM did not conform to the edit format.  \n> # 1 SEARCH/REPLACE block failed to match!\n\n"
        f"## This SEARCH block failed to exactly match lines in a.py\n{bad}\n"
        "# The other 1 SEARCH/REPLACE block were applied successfully.\nOnly send the others.  \n"
    )
    steps = run(f"#### Go  \n\na.py\n```\n{good}{bad}```\n\n{complaint}\na.py\n```\n{BLOCK}```\n\n").steps
    assert [(step.role, len(step.calls)) for step in steps] == [("user", 0), ("agent", 2), ("system", 0), ("agent", 1)]
    assert [result.is_error for result in steps[1].results] == [False, True]


@pytest.mark.parametrize("line", ["Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: all", "<blank>"])
def test_a_question_that_the_program_answers_itself_is_not_the_users(line: str) -> None:
    steps = run(f"#### Go  \n\nDone.\n\n#### {line}  \n").steps
    assert [(step.role, step.text) for step in steps] == [("user", "Go"), ("agent", "Done."), ("system", line)]


def test_tokens_that_were_written_to_the_cache_count_as_such() -> None:
    step = run("#### Go\n\nDone.\n\n> Tokens: 9k sent, 2k cache write, 1k cache hit, 30 received.\n").steps[1]
    assert step.tokens == Tokens(9000, 30, 1000, None, 2000)
