"""A table of labels of judges and of people, assessed, compared and shown as runs of judges are."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import compress
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import Any

import msgspec
import tomli_w

from misstep_analysis.gold import BenchmarkItem, GoldLabel, write_gold
from misstep_analysis.judging.assessment import Assessment, assess, assessment_document, main_findings
from misstep_analysis.judging.comparison import PairedJudges, best_of, compare_judges, pair_sentence
from misstep_analysis.judging.gate_figures import gate_figures, with_unanswered
from misstep_analysis.judging.gates import Gate, Undecided, decide, fail_on, fail_under, outcome_sentence
from misstep_analysis.judging.grades import GRADES, nearer_sentences, with_grades
from misstep_analysis.judging.sample import JudgedSample, judged_sample
from misstep_analysis.judging.scores import check_table, positive_rates
from misstep_analysis.judging.slices import slices_table
from misstep_analysis.labels.columns import TEXTS, words_of
from misstep_analysis.labels.judged_table import JudgedTable
from misstep_analysis.runs.finished import require_finished
from misstep_analysis.runs.kind import Choice, kind_in
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables.text import table_text
from misstep_harness.errors import InputError, UsageError, writing
from misstep_harness.items import Question
from misstep_harness.journal.records import replace_file
from misstep_harness.journal.run_folder import make_folder
from misstep_harness.verdict import Verdict


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
    from misstep_analysis.labels.judged_table import JudgedColumns, read_judged_table

    return CheckedTable(read_judged_table(file, JudgedColumns(judge, human), {})).figures()


def labelled_texts(file: Path, label: str = "", item: str = "") -> "CheckedTable":
    """Return a table of texts and people's labels, with judges or without."""
    from misstep_analysis.labels.judged_table import JudgedColumns, read_judged_table

    columns = JudgedColumns(people=[label] if label else [], item=item, judge_needed=False)
    return CheckedTable(read_judged_table(file, columns, {}))


_POSITIVE = ("yes", "true", "1", "positive", "present")
"""Labels that count as positive without a word, of two."""

_MOST_GROUPS = 12
_HALF = 0.5
_WIDTH = 110


class CheckedTable:
    """What the judges of a table are worth, each by itself and in pairs."""

    def __init__(self, table: JudgedTable, positive: str = "", seed: int = 0) -> None:
        self.table = table
        self.source = Path(table.file).name
        self.positive = _positive(table, positive)
        self.gold = tuple(
            GoldLabel(item, rater, label)
            for rater, labels in table.people.items()
            for item, label in zip(table.items, labels, strict=True)
            if label
        )
        self.remarks = list(table.remarks)
        self.verdicts = {judge: self._verdicts(judge) for judge in table.judges}
        self.items = tuple(BenchmarkItem(item, extra=self._extra(row)) for row, item in enumerate(table.items))
        self._seed = seed
        _check_groups(table)

    @cached_property
    def assessments(self) -> dict[str, Assessment]:
        """Return what each judge is worth."""
        on = partial(assess, benchmark=self.source, clusters=self.table.clusters, items=self.items, seed=self._seed)
        return {
            judge: on(
                verdicts, self.gold, self.table.labels, judge=judge, positive=self.positive, level=self.table.level
            )
            for judge, verdicts in self.verdicts.items()
        }

    @cached_property
    def rates(self) -> dict[str, dict[str, Estimate]]:
        """Return the true positive and true negative rate of each judge; empty without a positive label."""
        return {judge: positive_rates(self._sample(judge)) for judge in self.verdicts}

    def _sample(self, judge: str) -> JudgedSample:
        table = self.table
        return judged_sample(
            self.verdicts[judge], self.gold, table.labels, clusters=table.clusters, positive=self.positive
        )

    @cached_property
    def pairs(self) -> tuple[PairedJudges, ...]:
        """Return the judges compared in pairs on the same rows, Holm-adjusted."""
        return compare_judges(self.verdicts, self.gold, clusters=self.table.clusters, seed=self._seed)

    def text(self) -> str:
        """Return the answer for a terminal: a sentence first, then the figures of each judge."""
        parts: list[str] = []
        if len(self.assessments) > 1:
            parts += map(_folded, self._compared())
        for judge, assessment in self.assessments.items():
            shown = check_table(assessment.scores, assessment.reliability, self.rates[judge], self.source)
            shown = with_grades(shown, assessment.grades, judge, self.source)
            rest = table_text(shown).partition("\n")[2]
            findings = main_findings(assessment, self.source)
            parts += [rest.rstrip(), *map(_folded, findings)]
            if assessment.slices:
                parts.append(table_text(slices_table(assessment.slices, self.source)).rstrip())
        return "\n\n".join(parts)

    def _compared(self) -> list[str]:
        if self.table.level != "nominal":
            table = self.table
            of = partial(judged_sample, gold=self.gold, labels=table.labels, clusters=table.clusters)
            return nearer_sentences({judge: of(verdicts) for judge, verdicts in self.verdicts.items()})
        scored = {judge: one.scores for judge, one in self.assessments.items()}
        return [best_of(scored, self.pairs), *map(pair_sentence, self.pairs)]

    def document(self) -> dict[str, Any]:
        """Return all figures as one document."""
        judges = {
            judge: assessment_document(assessment) | msgspec.to_builtins(self.rates[judge])
            for judge, assessment in self.assessments.items()
        }
        return {
            "file": self.table.file,
            "human": list(self.table.people),
            "positive": self.positive,
            "level": self.table.level,
            "remarks": self.remarks,
            "judges": judges,
            "pairs": msgspec.to_builtins(self.pairs),
        }

    def figures(self) -> dict[str, Estimate]:
        """Return the figures that limits can be set for; of several judges each name begins with the judge's."""
        figures: dict[str, Estimate] = {}
        for judge, one in self.assessments.items():
            own = gate_figures(one.scores)
            every = positive_rates(self._sample(judge), unanswered_wrong=True)
            for name, rate in self.rates[judge].items():
                own |= with_unanswered(name, rate, every[name])
            if one.grades is not None:
                own |= {name: getattr(one.grades, name) for name in GRADES}
            figures |= {f"{judge}.{name}" if len(self.assessments) > 1 else name: value for name, value in own.items()}
        return figures

    def page(self, command: str) -> str:
        """Return the page of runs of judges, with every row to look at."""
        from misstep_analysis.judging.judged_runs import JudgedRun
        from misstep_analysis.judging.report import report_html
        from misstep_harness.journal.inputs import file_state, inputs_of_files
        from misstep_harness.journal.records import SCHEMA, Manifest

        question = Question(
            self.source, "text", dict.fromkeys(self.table.labels, ""), self.positive, level=self.table.level
        )
        with tempfile.TemporaryDirectory() as folder:
            self._write_items(Path(folder))
            inputs = inputs_of_files([file_state(Path(folder) / "items.jsonl")])
            runs = [
                JudgedRun(
                    Path(judge),
                    Manifest(SCHEMA, "judge check", [], "", "", "", {"judge": judge}, inputs, finished="read"),
                    Path(folder),
                    question,
                    verdicts,
                    self.gold,
                    self.items,
                )
                for judge, verdicts in self.verdicts.items()
            ]
            return report_html(runs, list(self.assessments.values()), command)

    def write_benchmark(self, folder: Path) -> None:
        """Write the rows as a benchmark: their texts as items, people's labels as gold."""
        if (folder / "items.jsonl").exists():
            raise UsageError(f"{folder} holds a benchmark", "Name another folder.")
        if not any(TEXTS.intersection(words_of(name)) for name in self.table.texts):
            columns = f"It would show a judge all of these: {', '.join(self.table.texts) or 'nothing'}."
            advice = "Call the column of the texts `text`, `output` or `response`."
            raise InputError(f"no column is called like a text. {columns}", advice, file=self.table.file, line=1)
        question = {"name": folder.resolve().name, "kind": "text", "labels": list(self.table.labels)}
        question |= {"positive": self.positive} if self.positive else {}
        question |= {"level": self.table.level} if self.table.level != "nominal" else {}
        make_folder(folder)
        with writing(folder):
            replace_file(folder / "benchmark.toml", tomli_w.dumps(question).encode())
            write_gold(folder, self.gold)
            self._write_items(folder)

    def _write_items(self, folder: Path) -> None:
        """Write the rows as the items of a benchmark, for the page."""
        texts = self.table.texts
        with (folder / "items.jsonl").open("w", encoding="utf-8") as stream:
            for row, item in enumerate(self.table.items):
                shown = [f"{name}: {cells[row]}" if len(texts) > 1 else cells[row] for name, cells in texts.items()]
                text = "\n".join(shown) or f"Row {row + 1} of {self.source}"
                stream.write(json.dumps({"id": item, "kind": "text", "text": text, "extra": self._extra(row)}) + "\n")

    def _extra(self, row: int) -> dict[str, str]:
        cluster = self.table.clusters.get(self.table.items[row], "")
        groups = {name: values[row] for name, values in self.table.groups.items() if values[row]}
        return groups | ({"cluster": cluster} if cluster else {})

    def _verdicts(self, judge: str) -> tuple[Verdict, ...]:
        """Return the answers of a judge; an empty cell is a missing answer, which counts as wrong."""
        labels, scores = self.table.judges[judge], self._certainties(judge)
        empty = partial(Verdict, label=None, status="failed", error="the cell is empty")
        rows = zip(self.table.items, labels, scores, strict=True)
        return tuple(
            Verdict(item, judge, label, score=score) if label else empty(item, judge) for item, label, score in rows
        )

    def _certainties(self, judge: str) -> list[float | None]:
        """Return the certainty of each label: scores of one of two labels are turned round for the other.

        They are of one label where the two labels' mean scores lie on either side of a half. A label that no person
        gave is none of them: one stray word decides nothing.
        """
        labels, scores = self.table.judges[judge], self.table.scores.get(judge)
        if scores is None:
            return [None] * len(labels)
        means = {}
        for label in sorted(set(labels) & set(self.table.labels)):
            own = [score for score in compress(scores, (one == label for one in labels)) if score is not None]
            if own:
                means[label] = fmean(own)
        low, high = min(means, key=means.__getitem__, default=""), max(means, key=means.__getitem__, default="")
        if len(means) != 2 or not means[low] < _HALF <= means[high]:
            return list(scores)
        self.remarks.append(f"the scores of {judge!r} are read as the probability of {high!r}")
        return [
            round(1 - score, 9) if label == low and score is not None else score
            for label, score in zip(labels, scores, strict=True)
        ]


def _folded(sentence: str) -> str:
    return fill(sentence, _WIDTH)


def _positive(table: JudgedTable, named: str) -> str:
    """Return the positive label: the one that is named, or of two the one whose word says so."""
    labels: Mapping[str, str] = {label.casefold(): label for label in table.labels}
    if named:
        if named.casefold() not in labels:
            raise UsageError(f"--positive {named}: people never say so", f"Their labels: {', '.join(table.labels)}.")
        return labels[named.casefold()]
    return next((labels[word] for word in _POSITIVE if word in labels and len(labels) <= 2), "")


def _check_groups(table: JudgedTable) -> None:
    """Refuse groups that no accuracy is worked out for."""
    for name, values in table.groups.items():
        distinct = len(set(values) - {""})
        if not 2 <= distinct <= _MOST_GROUPS:
            problem = f"--by {name}: the column has {distinct:,} different values"
            raise UsageError(problem, f"Name a column with 2 to {_MOST_GROUPS} different values.")
