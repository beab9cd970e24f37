"""The pages of an annotation study: a case to label, the raters' answers side by side, the results.

Pages of raters: a case with its possible labels, the calibration set side by side, and the waiting page.

The page of a case shows only the answers of other raters that it is given, none in a blind phase, and neither a
judge's verdict nor a gold label.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Literal
from urllib.parse import quote

from msgspec import Struct, structs

from misstep_analysis.agreement.tables import confusion_tables, kappa_rows, method_notes
from misstep_analysis.annotation.disagreement import Disagreement, agreement_finding, annotation_tables, disputes_table
from misstep_analysis.annotation.plan import AnnotatedStudy
from misstep_analysis.pages.browser import policy
from misstep_analysis.pages.page import Foot, Section, asset, described, markup, page, render
from misstep_analysis.pages.trajectory import (
    PAGE_SHOWN,
    TEXT_SHOWN,
    Passage,
    StepView,
    passage,
    run_facts,
    trajectory_values,
)
from misstep_analysis.tables import Table
from misstep_analysis.tables.text import table_text
from misstep_analysis.tables.wording import counted_text
from misstep_harness.annotation import CERTAINTIES, Phase, RaterAnswer
from misstep_harness.escaping import one_line
from misstep_harness.trajectory import Source, Step, Trajectory


class Meaning(Struct, frozen=True):
    """A label or subcategory."""

    name: str
    title: str
    meaning: str = ""
    subcategories: tuple["Meaning", ...] = ()


class TextFile(Struct, frozen=True):
    """A file with a note, such as why its text is not shown; `is_diff` if it is the change of a file."""

    path: str
    text: str = ""
    note: str = ""
    is_diff: bool = False


class MaterialPart(Struct, frozen=True):
    """The files of one part of a case; `left_out` more are not shown, and `note` is for the rater."""

    id: str
    title: str
    files: tuple[TextFile, ...] = ()
    left_out: int = 0
    note: str = ""


class Material(Struct, frozen=True):
    """A case with the labels that it may get; `problem` says why the run cannot be read, `step` what it is about."""

    id: str
    question: str
    labels: tuple[Meaning, ...]
    instruction: str = ""
    outcome: Literal["passed", "failed", "unknown"] = "unknown"
    facts: tuple[tuple[str, str], ...] = ()
    run: Trajectory | None = None
    problem: str = ""
    parts: tuple[MaterialPart, ...] = ()
    step: int | None = None


PHASE_TITLES: dict[Phase, str] = {
    "calibration": "Calibration",
    "independent": "Independent labels",
    "reconciliation": "Reconciliation",
}

SUBCATEGORY_KEYS = "qwert"
CERTAINTY_KEYS = "789"
CANNOT_TELL_KEY = "0"

_LINE = 110
_OPEN_AT_MOST = 6_000
_SCRIPTS = ("trajectory.js", "annotation/case.js")


class Link(Struct, frozen=True):
    """A case in the list of a rater's cases; `state` is `done`, `left` or `here`."""

    number: int
    address: str
    title: str
    state: str


class Asked(Struct, frozen=True):
    """What a rater is asked now.

    - `place`, `of`, `done`: The number of the case among the rater's cases of the phase, their number, and the number
      of answered ones.
    - `token`, `revision`: Proof that an answer is from this page, and the number of answers that the page knows of.
    - `own`: The rater's last answer, in this phase or before.
    - `others`: Answers that may be seen, the rater's own among them; none in a blind phase.
    - `open`: Whether an answer is taken now.
    """

    rater: str
    phase: Phase
    place: int
    of: int
    done: int
    links: tuple[Link, ...]
    address: str
    token: str
    revision: int
    own: RaterAnswer | None = None
    others: tuple[RaterAnswer, ...] = ()
    open: bool = True


class _Choice(Struct, frozen=True):
    value: str
    title: str
    key: str
    meaning: str
    chosen: bool
    finer: "tuple[_Choice, ...]" = ()


class _FileView(Struct, frozen=True):
    path: str
    text: Passage
    note: str
    is_open: bool


class PartView(Struct, frozen=True):
    """A part of the case as the page shows it."""

    id: str
    title: str
    files: tuple[_FileView, ...]
    note: str


def case_page(material: Material, question: Asked, foot: Foot) -> str:
    """Return the page of one case for one rater."""
    script = "\n".join(map(asset, _SCRIPTS))
    run = material.run or Trajectory(material.id, Source("none"))
    values = trajectory_values(run, (), foot) | {
        "title": f"{question.place} of {question.of} · {PHASE_TITLES[question.phase]} · {question.rater}",
        "finding": _summary(material),
        "facts": (
            *material.facts,
            *tuple((name, value) for name, value in run_facts(run) if name not in ("Source", "Outcome", "Steps")),
        )
        if material.run
        else material.facts,
    }
    steps: list[StepView] = values["steps"]
    return render(
        "annotation/case.html.jinja",
        **values,
        policy=form_policy([asset("sort.js"), script]),
        search=markup(script),
        annotation_style=markup(asset("annotation/style.css")),
        material=material,
        asked=question,
        phase_title=PHASE_TITLES[question.phase],
        step_lines={step.number: step_line(run.steps[step.number]) for step in steps},
        marked=frozenset(question.own.steps if question.own else ()),
        instruction=passage(material.instruction, TEXT_SHOWN, always_open=True),
        parts=_parts(material.parts),
        choices=_choices(material, question.own),
        certainties=tuple(
            _Choice(name, name, key, "", question.own is not None and question.own.certainty == name)
            for name, key in zip(CERTAINTIES, CERTAINTY_KEYS, strict=True)
        ),
        cannot_tell=_Choice(
            "", "Cannot tell", CANNOT_TELL_KEY, "", question.own is not None and question.own.label is None
        ),
        note=question.own.note if question.own else "",
    )


def form_policy(scripts: Sequence[str]) -> str:
    """Return the policy of a page whose form and script may write to its own origin and nowhere else."""
    return policy(scripts).replace("form-action 'none'", "form-action 'self'; connect-src 'self'")


def step_line(step: Step) -> str:
    """Return a step on one line: its call or text, and whether it failed."""
    called = [f"{call.name}: {_argument(call.arguments)}" if call.arguments else call.name for call in step.calls]
    text = "; ".join(called) or step.text or step.reasoning or "; ".join(result.text for result in step.results)
    line = one_line(text[: 4 * _LINE])
    return f"{line[:_LINE].rstrip()}…" if len(line) > _LINE else line


def address_of(*parts: object) -> str:
    """Return a path of the study's pages below the rater's own."""
    return "/".join(quote(str(part), safe="") for part in parts)


def _argument(arguments: object) -> str:
    if isinstance(arguments, dict):
        return " ".join(str(value)[: 4 * _LINE] for value in arguments.values())
    return str(arguments)[: 4 * _LINE]


def _summary(material: Material) -> str:
    outcome = {"passed": "The run passed its tests", "failed": "The run failed its tests"}
    ending = outcome.get(material.outcome, "How the run ended is not recorded")
    steps = f" after {counted_text(len(material.run.steps), 'step')}" if material.run else ""
    return f"{ending}{steps}. {material.question}"


def _parts(parts: Sequence[MaterialPart]) -> list[PartView]:
    """Return the parts with as much of each text as all together may have."""
    lengths = [len(file.text) for part in parts for file in part.files]
    most = TEXT_SHOWN
    while most > 400 and sum(min(length, most) for length in lengths) > PAGE_SHOWN:
        most //= 2
    return [_part(part, most) for part in parts]


def _part(part: MaterialPart, most: int) -> PartView:
    left_out = f"{counted_text(part.left_out, 'more file')} are not shown here." if part.left_out else ""
    note = " ".join(filter(None, (part.note, left_out)))
    room, files = _OPEN_AT_MOST, []
    for file in part.files:
        text = structs.replace(passage(file.text, most, always_open=True), is_diff=file.is_diff)
        # Logs and changes are read first: they are open as long as they are short.
        room -= len(text.start)
        is_open = part.id in ("logs", "changes", "text", "patch") and room >= 0
        files.append(_FileView(file.path, text, file.note, is_open))
    return PartView(part.id, part.title, tuple(files), note)


def _choices(material: Material, own: RaterAnswer | None) -> tuple[_Choice, ...]:
    return tuple(
        _Choice(
            label.name,
            label.title,
            str(number) if number < 7 else "",
            label.meaning,
            own is not None and own.label == label.name,
            tuple(
                _Choice(
                    finer.name,
                    finer.title,
                    key.strip(),
                    finer.meaning,
                    own is not None and (own.label, own.subcategory) == (label.name, finer.name),
                )
                for finer, key in zip(
                    label.subcategories, SUBCATEGORY_KEYS.ljust(len(label.subcategories)), strict=False
                )
            ),
        )
        for number, label in enumerate(material.labels, start=1)
    )


class Compared(Struct, frozen=True):
    """A case that all raters have answered, with what its labels mean."""

    item: str
    address: str
    answers: tuple[RaterAnswer, ...]
    labels: tuple[Meaning, ...]

    @property
    def differ(self) -> bool:
        """Return whether the raters do not all give one label."""
        return len({one.label for one in self.answers}) > 1 or self.answers[0].label is None

    @property
    def meanings(self) -> list[Meaning]:
        """Return the code book's entries of the labels and kinds that were given."""
        labels = {(one.label, one.subcategory) for one in self.answers}
        entries = []
        for label in self.labels:
            if label.name in {name for name, _ in labels}:
                entries.append(label)
                entries += [finer for finer in label.subcategories if (label.name, finer.name) in labels]
        return entries


def meeting_page(compared: Sequence[Compared], rater: str, following: str, foot: Foot) -> str:
    """Return the calibration set, all answers side by side."""
    differ = sum(one.differ for one in compared)
    cases = counted_text(len(compared), "case")
    finding = f"The raters differ on {differ} of {cases} of the calibration set."
    if not differ:
        finding = f"The raters give the same label to all of {cases} of the calibration set."
    return _page("meeting", f"Calibration · {rater}", finding, foot, compared=compared, following=following)


def waiting_page(
    rater: str, phase: Phase, awaited: Mapping[str, int], links: Sequence[Link], disputed: int, done: bool, foot: Foot
) -> str:
    """Return the page of a rater who has no case to label now."""
    who = ", ".join(f"{name} ({counted_text(left, 'case')})" for name, left in awaited.items())
    if done:
        finding = "All cases are labelled."
        if disputed:
            finding += f" {counted_text(disputed, 'case')} in dispute {'was' if disputed == 1 else 'were'} reconciled."
        finding += " You can close this page."
    else:
        finding = f"You are done with this phase. The next one begins when all are: {who} left."
    title = f"{PHASE_TITLES[phase]} · {rater}"
    script = asset("annotation/waiting.js")
    return _page("waiting", title, finding, foot, [script], links=links, done=done, look_again=markup(script))


def _page(template: str, title: str, finding: str, foot: Foot, scripts: Sequence[str] = (), **values: object) -> str:
    return render(
        f"annotation/{template}.html.jinja",
        title=title,
        finding=finding,
        foot=described(foot),
        policy=form_policy([asset("sort.js"), *scripts]),
        annotation_style=markup(asset("annotation/style.css")),
        **values,
    )


BLIND = (
    "Agreement is measured on blind labels of the independent phase alone: nobody could see another's labels or what a "
    "judge said. Reconciliation changes none of them."
)


def result_page(
    study: AnnotatedStudy, report: Disagreement, source: str, foot: Foot, remarks: tuple[str, ...] = ()
) -> str:
    """Return the page of a study's result."""
    tables = list(annotation_tables(report, source))
    sections = [Section("Confusions", tuple(confusion_tables(report.report)), folded=True)]
    if disputes := disputes_table(study, source).rows:
        sections.append(Section("Cases in dispute", (disputes_table(study, source),), folded=len(disputes) > 60))
    notes = (*remarks, BLIND, *method_notes(report.report))
    return page(
        "Annotation study",
        agreement_finding(report),
        tables,
        _figures(report),
        notes,
        [section for section in sections if section.tables],
        foot=foot,
    )


def result_text(study: AnnotatedStudy, report: Disagreement, source: str) -> str:
    """Return the same for a terminal."""
    shown: list[Table] = [*annotation_tables(report, source)]
    if report.disputed or report.reconciled.n:
        shown.append(disputes_table(study, source))
    return "\n".join(map(table_text, shown))


def _figures(report: Disagreement) -> list[str]:
    rows = kappa_rows(report.report)
    if not rows or find_spec("matplotlib") is None:
        return []
    from misstep_analysis.plots.rows import forest

    return [forest(rows, "Agreement beyond chance, overall and by pair of raters")]
