"""Failure modes of reflexive loops shown to happen and to be cured; p-values are adjusted after Holm."""

from collections.abc import Sequence

from msgspec import Struct, structs

from misstep_analysis.reflexive.ablation import AblationEffect, effects_of
from misstep_analysis.reflexive.scores import ALSO, MEASURES, LoopScores
from misstep_analysis.stats.significance import holm


class FailureMode(Struct, frozen=True):
    """A failure mode: its name, its witness by the id of a printed figure, its cure, and the figures that show it."""

    name: str
    witness: tuple[str, ...]
    mechanism: str
    keys: tuple[str, ...]


MODES = (
    FailureMode("1 Tool-call explosion", ("explosion.calls",), "turn_budgets", ("most_calls", "hidden")),
    FailureMode("2 Corrupted target", ("corruption.hours",), "snapshots", ("corrupted", "solved")),
    FailureMode("3 Diagnostic blindness", ("blindness.sudo",), "diagnostics", ("without_facts", "solved")),
    FailureMode(
        "4 New words for the same",
        ("novelty.flagged", "novelty.actual"),
        "plateau_by_content",
        ("plateaus", "repeated"),
    ),
    FailureMode("5 No authority to give up", ("authority.minutes",), "re_engagement", ("most_reflections", "wasted")),
    FailureMode("6 Caps of retries", ("budget.cap",), "time_budget", ("late", "solved")),
    FailureMode("7 Collapse of memory", ("memory.stored", "memory.surfaced"), "memory", ("distinct", "attempts")),
    FailureMode("8 Drift of contexts", (), "fresh_context", ("cut", "solved")),
)
"""The six modes that the document calls shown, and the two that it suspects; its seventh prints a witness, too."""


class Cure(Struct, frozen=True):
    """One figure of a failure mode: without its mechanism, with it, and the difference that leaving it out makes."""

    mode: FailureMode
    key: str
    without: AblationEffect
    whole: AblationEffect

    @property
    def shown(self) -> bool:
        """Return whether the figure is told apart and worse where the mechanism is left out."""
        change = self.without.change
        more_is_better = (MEASURES | ALSO)[self.key].more_is_better
        return self.without.apart and change is not None and (change < 0 if more_is_better else change > 0)


def cures(runs: Sequence[LoopScores]) -> tuple[Cure, ...]:
    """The figures of each mode that some runs show: with and without its mechanism on the same seeds and items."""
    whole_runs = {(run.seed, run.of): run for run in runs if not run.without}
    shown: list[Cure] = []
    for mode in MODES:
        without_it = {(run.seed, run.of): run for run in runs if run.without == (mode.mechanism,)}
        pairs = [(without_it[key], whole_runs[key]) for key in sorted(without_it.keys() & whole_runs.keys())]
        if pairs:
            without = effects_of(pairs, mode.keys)
            whole = effects_of([(second, first) for first, second in pairs], mode.keys)
            shown += [Cure(mode, key, without[key], whole[key]) for key in mode.keys]
    adjusted = holm([cure.without.p_value for cure in shown]).p_values
    return tuple(
        structs.replace(cure, without=structs.replace(cure.without, p_adjusted=p))
        for cure, p in zip(shown, adjusted, strict=True)
    )
