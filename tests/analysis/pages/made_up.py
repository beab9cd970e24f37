"""Made-up tables and trajectories for the tests of pages."""

from misstep_analysis.tables import Row, Table
from misstep_harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, ToolResult, Trajectory
from misstep_harness.verdict import Verdict

HOSTILE = "<script>alert('x')</script> \"quoted\" \u202eturned\x1b[31mred"
"""A label that would run, close an attribute, turn the text around and colour a terminal."""


def compared() -> Table:
    """Published beside recomputed: one reproduced, one that differs, one whose inputs are not printed."""
    rows = (
        Row("Loops", 0.2, n=50, evidence="published", source="table 1, row 1", printed="20%", unit="share"),
        Row("Loops", 0.2, 0.112, 0.33, 50, "recomputed", "table 1", "reproduced", unit="share"),
        Row("Edits", 0.31, n=50, evidence="published", source="table 1, row 2", printed="31%", unit="share"),
        Row("Edits", 0.3, 0.191, 0.438, 50, "recomputed", "table 1", "differs", "15 of 50 are 30%, not 31%.", "share"),
        Row(
            "Calls",
            None,
            evidence="recomputed",
            source="table 1",
            status="underdetermined",
            reason="No count is printed.",
            unit="share",
        ),
    )
    return Table("compared", "made_up", "Shares", "One of three shares differs.", rows, ("Wilson intervals.",))


def by_set() -> Table:
    """The same two quantities for three data sets."""
    rows = tuple(
        Row(name, share, share - 0.05, share + 0.05, n, "real", f"{group} at 1a2b", unit="share", group=group)
        for group, n in (("alpha", 1200), ("beta", 80), ("gamma", 7))
        for name, share in (("Loops", 0.1), ("Edits", 0.25))
    )
    return Table("by_set", "made_up", "By set", "Loops are in 10.0% (5.0–15.0%).", rows, datasets=("trail",))


def of_many_sources() -> Table:
    """Seven measurements of one quantity: too many to stand beside each other."""
    rows = tuple(
        Row("Loops", share / 10, n=10 * share, evidence="real" if share > 1 else "published", source=f"set {share}")
        for share in range(1, 8)
    )
    return Table("many", "made_up", "Many", "There are many.", rows)


def trajectory(**changes: object) -> Trajectory:
    """A run of six steps in which one call fails twice."""
    fields: dict[str, object] = {
        "id": "run-1",
        "source": Source("atif", "runs/run-1.json"),
        "task": "Make the tests pass.",
        "steps": (
            Step("user", "Make the tests pass."),
            Step("agent", "I look first.", "What is there?", (ToolCall("bash", {"command": "ls -l"}, "c1"),)),
            Step("system", results=(ToolResult("setup.py", call_id="c1"),)),
            failing_step("c2"),
            failing_step("c3"),
            Step("agent", "Done.", seconds=2.5, tokens=Tokens(completion=1234, cost_usd=0.02), speaker="coder"),
        ),
        "outcome": Outcome("failed", 0.0),
        "agent": "made-up-agent",
        "model": "made-up-model",
    }
    return Trajectory(**fields | changes)  # type: ignore[arg-type]


def failing_step(call_id: str) -> Step:
    """A step whose one call fails."""
    return Step(
        "agent",
        calls=(ToolCall("edit", '{"path": "a.py"', call_id, "no closing brace"),),
        results=(ToolResult("edit: arguments are not JSON", is_error=True, exit_code=2, call_id=call_id),),
    )


def verdicts() -> list[Verdict]:
    """One category not found, one found in two steps."""
    return [
        Verdict("run-1", "infinite_loop", "no", rationale="Nothing comes back."),
        Verdict("run-1", "tool_call_failure", "yes", steps=(3, 4), rationale="The same edit fails twice."),
    ]
