"""Limits on the figures of a run or a table, held in a test of any framework."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from misstep_analysis.judging.gate_reports import outcome_sentence
from misstep_analysis.judging.gates import Gate, Undecided, decide, fail_on, fail_under
from misstep_analysis.runs.finished import require_finished
from misstep_analysis.runs.kind import Choice, kind_in
from misstep_analysis.stats.estimate import Estimate


def assert_judge(
    of: os.PathLike[str] | str,
    *limits: str,
    undecided: Undecided | None = None,
    benchmark: str = "",
    judge: Sequence[str] = (),
    human: Sequence[str] = (),
) -> tuple[str, ...]:
    """Raise an AssertionError unless the figures of a judge keep their limits; returns a line for each limit.

    Parameters
    ----------
    of
        The folder of a run of `misstep judge run` or `misstep classify`, or a table as `misstep judge check` reads it.
    limits
        As for `--fail-under`, such as `accuracy=0.85` or `kappa.lower=0.4`, or for `--fail-on`, such as `any>5%`.
    undecided
        What becomes of a limit that lies in the interval, `fail` or `pass`; without it the figure itself decides.
    benchmark
        The benchmark's folder, where it no longer lies where the run found it.
    judge, human
        The columns of a table, where names do not tell.

    Raises
    ------
    AssertionError
        A limit is not kept; its line says the figure with its interval.
    MisstepError
        The run or the table cannot be read, is not finished, or has no such figure.

    Examples
    --------
    >>> import misstep
    >>> misstep.assert_judge("run", "accuracy=0.85", undecided="fail")  # doctest: +SKIP
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    gates = [_gate(text) for text in limits]
    place = Path(of)
    figures = _of_table(place, judge, human) if place.is_file() else _of_run(place, benchmark)
    outcomes = decide(gates, figures, undecided)
    lines = tuple(f"{one.decision}: {outcome_sentence(one)}" for one in outcomes)
    stopping = [line for one, line in zip(outcomes, lines, strict=True) if one.stops]
    if stopping:
        raise AssertionError("\n".join(stopping))
    return lines


def _gate(text: str) -> Gate:
    return fail_on(text) if "<" in text or ">" in text else fail_under(text)


def _of_run(folder: Path, benchmark: str) -> Mapping[str, Estimate]:
    kind, run = kind_in(folder)
    require_finished(run)
    return kind.limited(kind.open(run, Choice(benchmark)))


def _of_table(file: Path, judge: Sequence[str], human: Sequence[str]) -> Mapping[str, Estimate]:
    from misstep_analysis.judging.report.checked_table import CheckedTable
    from misstep_analysis.labels.judged_table import JudgedColumns, read_judged_table

    return CheckedTable(read_judged_table(file, JudgedColumns(judge, human), {})).figures()
