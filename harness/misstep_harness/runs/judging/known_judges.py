"""The judge that a command line names: a TOML file, a shipped prompt, a rule, a recording, or a judge in Python."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from msgspec.structs import replace

from misstep_harness.benchmarks import benchmark_named
from misstep_harness.errors import UsageError
from misstep_harness.judges.runnable import RunnableJudge

BENCHMARK = "benchmark"
"""The folder in a run that holds the sessions it was asked about."""


class JudgeFamily(Protocol):
    """A module with judges whose names have something in common."""

    def judge_names(self) -> tuple[str, ...]:
        """Return the names of its judges."""

    def judge_named(self, named: str, model: str = "") -> RunnableJudge:
        """Return the judge of a name, with the model that the command line names."""


FAMILIES = {"@rule": "misstep_harness.runs.judging.rules", "triage@": "misstep_harness.triage.runs.judges"}
"""What the names of a family begin or end with → its module, a `JudgeFamily`."""


def family(mark: str) -> JudgeFamily:
    """Return the module of a family of judges."""
    return cast("JudgeFamily", import_module(FAMILIES[mark]))


def known_judge(named: str, *, model: str = "", base_url: str | None = None, data: Path | None = None) -> RunnableJudge:
    """Return the judge of a name."""
    if not Path(named).is_file() and not named.endswith(".toml"):
        mark = next((one for one in FAMILIES if named.startswith(one) or named.endswith(one)), None)
        if mark is not None:
            return family(mark).judge_named(named, model)
        if "/" in named:
            from misstep_harness.runs.recorded import is_recorded, recorded_judge

            if is_recorded(named):
                return recorded_judge(named, data)
        from misstep_harness.judges import JUDGES, added_judges

        if ":" in named or named in added_judges():
            entry = JUDGES.load(named)
            if not isinstance(entry, str | Path):
                from misstep_harness.judges.python_judge import python_judge

                return python_judge(entry, named, model)
            named = str(entry)
    return _prompted(named, model, base_url)


def _prompted(named: str, model: str, base_url: str | None) -> RunnableJudge:

    from misstep_harness.judges import read_known
    from misstep_harness.judges.prompted import prompted_judge

    spec = read_known(named)
    named_settings = {"name": model or spec.model.name, "base_url": base_url or spec.model.base_url}
    return prompted_judge(replace(spec, model=replace(spec.model, **named_settings)))


def benchmark_of(judge: RunnableJudge, named: str, data: Path | None = None) -> Path:
    """The folder of the benchmark that a judge is asked about: the one that is named; a recorded judge has its own."""
    if judge.dataset:
        from misstep_harness.runs.recorded import recorded_benchmark

        return recorded_benchmark(judge, named, data)
    if not named:
        raise UsageError("no benchmark is named", "Name one with --benchmark, or name sessions.")
    return benchmark_named(named, data)


def asked_about(
    judge: RunnableJudge,
    sessions: Sequence[Path],
    benchmark: str,
    out: Path,
    data: Path | None = None,
    *,
    place: str = BENCHMARK,
) -> Path:
    """Return the folder of the benchmark that a run in `out` is about: one that is named, or one made of sessions."""
    if sessions and benchmark:
        raise UsageError("both sessions and --benchmark are given", "Name one of them.")
    if not sessions:
        return benchmark_of(judge, benchmark, data)
    from misstep_harness.runs.judging.session_benchmark import kind_for, session_benchmark

    return session_benchmark(kind_for(judge), judge.labels, sessions, out / place)
