"""Made-up attempts whose figures are known."""

from misstep_analysis.repair.attempts import RepairArm
from misstep_harness.repair.records import NOT_AFFIRMED, RepairAttempt, Signal
from misstep_harness.trajectory import Source, Step, ToolCall, Trajectory


def attempt(case: str, solved: bool | None = True, sample: int = 0, **fields: object) -> RepairAttempt:
    values: dict[str, object] = {
        "policy": "search",
        "setting": "react+tests",
        "format": "search_replace",
        "patched": True,
        "iterations": 5,
        "seconds": 2.0,
        "ended": "exit",
        **fields,
    }
    return RepairAttempt(case, sample=sample, solved=solved, **values)  # type: ignore[arg-type]


def not_held(case: str, sample: int = 0) -> RepairAttempt:
    why = "the oracle's tests pass on the broken tree"
    return attempt(case, None, sample, patched=False, iterations=0, seconds=0.0, ended=NOT_AFFIRMED, error=why)


def arm(*attempts: RepairAttempt, name: str = "search", **fields: object) -> RepairArm:
    values: dict[str, object] = {"benchmark": "orchard", **fields}
    return RepairArm(name, "search", "react+tests", "search_replace", attempts, **values)  # type: ignore[arg-type]


def run_of(case: str, *names: str) -> Trajectory:
    steps = tuple(Step("agent", f"I call {name}.", calls=(ToolCall(name, {"path": "pear.py"}),)) for name in names)
    return Trajectory(case, Source("misstep"), f"Mend {case}.", steps)


FOUR = (
    attempt("apple", True, iterations=3, signals=(Signal("oracle", True), Signal("static_analysis", None))),
    attempt("pear", False, iterations=40, ended="iterations", signals=(Signal("oracle", False, "1 failed"),)),
    attempt("plum", None, patched=False, iterations=0, ended="", error="SandboxFailed: no bwrap"),
    attempt("quince", True, iterations=8, input_tokens=100, output_tokens=10, cost_usd=0.5),
    not_held("rowan"),
)
"""Two of four solved, one of them broken before it was scored, and a fifth case that does not hold."""
