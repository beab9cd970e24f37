"""What findings cost: each step once, unknown never 0, sub-agents where they began."""

from datetime import UTC, datetime

import pytest
from msgspec import structs

from misstep_analysis.sessions.costs import Cost, Costs, cost_sentence, cost_table, cost_tables, costs_of
from misstep_harness.journal.classified import LabelledSession, PlacedVerdict
from misstep_harness.session import session_of
from misstep_harness.trajectory import Source, Step, Tokens, ToolCall, Trajectory

USED = Tokens(100, 10)


def _step(minute: int | None, tokens: Tokens | None = USED, message: str = "", role: str = "agent") -> Step:
    at = None if minute is None else datetime(2026, 3, 2, 10, minute, tzinfo=UTC).isoformat()
    of_agent = tokens if role == "agent" else None
    return Step(role, timestamp=at, tokens=of_agent, extra={"message_id": message} if message else {})  # type: ignore[arg-type]


def _session(name: str, *steps: Step, parent: str | None = None, **message: tuple[int, ...]) -> LabelledSession:
    run = Trajectory(name, Source("made up"), steps=steps, model="m", parent=parent)
    labels = [(one, "yes" if one in message else "no", message.get(one, ())) for one in ("a", "b")]
    verdicts = tuple(PlacedVerdict(name, one, label, steps=steps) for one, label, steps in labels)
    return LabelledSession(session_of(run, "f"), verdicts)


def _costs(*sessions: LabelledSession, usd: float | None = 0.001) -> Costs:
    return costs_of(("a", "b"), sessions, lambda _, used: None if usd is None else _priced(used, usd))


def _priced(used: Tokens, usd: float) -> tuple[float, bool] | None:
    if used.prompt is None or used.completion is None:
        return None
    return usd * (used.prompt + used.completion - (used.cached or 0)), not used.cache_written


def test_a_step_counts_once_for_a_category_and_once_for_all_categories() -> None:
    costs = _costs(_session("s", *map(_step, range(6)), a=(1, 3), b=(2, 4)))
    assert [(name, one.steps, one.tokens) for name, one in costs.categories.items()] == [("a", 3, 330), ("b", 3, 330)]
    assert (costs.any.steps, costs.any.tokens, costs.any.seconds, costs.any.usd) == (4, 440, 240.0, 0.44)


def test_an_answer_that_two_sessions_hold_counts_once() -> None:
    copied = [_step(0, message="m1"), _step(1, message="m2")]
    costs = _costs(_session("s", *copied, a=(0, 1)), _session("t", *copied, _step(2, message="m3"), a=(0, 2)))
    assert (costs.any.runs, costs.any.steps, costs.any.tokens) == (2, 3, 330)


def test_what_is_not_recorded_is_not_known_and_what_is_known_in_part_is_said() -> None:
    costs = _costs(_session("s", _step(None, None), _step(None, None), a=(0, 1)), usd=None)
    assert (costs.any.steps, costs.any.tokens, costs.any.seconds, costs.any.usd) == (2, None, None, None)
    assert cost_sentence(costs).startswith("These problems took 2 steps; tokens, time and money not recorded.")
    known_in_part = _costs(_session("s", _step(0), _step(1, None), a=(0, 1)))
    assert (known_in_part.any.tokens, known_in_part.any.tokens_known) == (110, 0)
    assert "110 tokens or more (recorded by 0 of 1 session)" in cost_sentence(known_in_part)
    rows = {row.quantity: row for row in cost_table(costs, source="here").rows}
    assert (rows["tokens"].value, rows["tokens"].n, bool(rows["tokens"].reason)) == (None, 0, True)


def test_a_sub_agent_costs_where_it_began_between_onset_and_end() -> None:
    parent = _session("s", *map(_step, (0, 10, 20, 30)), a=(1, 2))
    within = _session("s/x", _step(12, role="user"), _step(13), _step(14), parent="s")
    later = _session("s/y", _step(31), parent="s")
    without_time = _session("s/z", _step(None), parent="s")
    costs = _costs(parent, within, later, without_time)
    assert (costs.any.runs, costs.any.steps, costs.any.tokens, costs.unplaced) == (1, 5, 440, 1)


def test_the_time_before_a_persons_step_is_nobodys_and_recorded_money_comes_first() -> None:
    steps = (_step(0), _step(30, role="user"), _step(31, Tokens(100, 10, 50, 7.0)))
    costs = _costs(_session("s", *steps, a=(1, 2)))
    assert (costs.any.seconds, costs.any.usd) == (60.0, 7.0)
    cached = _costs(_session("s", _step(0, Tokens(100, 10, 50)), _step(1, Tokens(100, 10, 50)), a=(0, 1)))
    assert cached.any.usd == 0.12


def test_groups_and_categories_come_with_the_dearest_first() -> None:
    cheap, dear = _session("s", *map(_step, range(3)), a=(0, 1)), _session("t", *map(_step, range(9)), b=(0, 8))
    costs = _costs(cheap, dear)
    assert list(costs.categories) == ["b", "a"]
    assert list(costs.by["model"]) == ["m"]
    assert costs.by["week"]["2026-W10"] == costs.any
    assert [table.name for table in cost_tables(costs, "here")] == ["costs"]


def test_a_sentence_rounds_what_the_document_has_exactly() -> None:
    cost = Cost(4, 25, 490_000, 9_742, 4, 697.0, 4, 0.3712, 4)
    assert cost_sentence(Costs({"infinite_loop": cost, "tool_call_failure": cost}, cost, {})) == (
        "These problems took 25 steps, 500,000 tokens, 12 minutes and $0.37. Loops cost most."
    )


def test_groups_have_a_table_where_they_differ() -> None:
    one = _session("s", *map(_step, range(3)), a=(0, 1))
    other = structs.replace(one, session=structs.replace(one.session, item="t", project="other"))
    assert [table.name for table in cost_tables(_costs(one, other), "here")] == ["costs", "costs_by_project"]


def test_money_of_which_a_kind_of_tokens_has_no_price_is_at_least() -> None:
    written = Tokens(100, 10, cache_written=50)
    costs = _costs(_session("s", _step(0), _step(1, written), a=(0, 1)))
    assert (costs.any.usd_known, costs.any.tokens_known) == (0, 1)
    assert "220 tokens, 60 s or more" in cost_sentence(costs)
    assert "$0.22 or more (recorded by 0 of 1 session)" in cost_sentence(costs)


@pytest.mark.parametrize("name", ["Task", "spawn_agent", "task"])
def test_what_a_sub_agent_cost_that_left_no_record_is_not_known(name: str) -> None:
    start = structs.replace(_step(10), calls=(ToolCall(name, {"prompt": "Look around"}),))
    parent = _session("s", _step(0), start, _step(20), a=(0, 2))
    unrecorded = _costs(parent)
    assert (unrecorded.any.tokens, unrecorded.any.tokens_known, unrecorded.any.usd_known) == (330, 0, 0)
    assert "330 tokens or more" in cost_sentence(unrecorded)
    recorded = _costs(parent, _session("s/x", _step(12), parent="s"))
    assert (recorded.any.tokens, recorded.any.tokens_known) == (440, 1)
    of_shell = structs.replace(_step(10), calls=(ToolCall("task", {"command": "task build"}),))
    assert _costs(_session("s", _step(0), of_shell, a=(0, 1))).any.tokens_known == 1
