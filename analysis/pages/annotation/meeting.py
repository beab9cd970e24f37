"""Pages on which raters meet: the calibration set side by side with the code book, and the waiting page."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from misstep.analysis.pages.annotation.case import PHASE_TITLES, Link, form_policy
from misstep.analysis.pages.annotation.material import Meaning
from misstep.analysis.pages.foot import Foot, described
from misstep.analysis.pages.rendering import asset, markup, render
from misstep.analysis.tables.wording import counted_text
from misstep.harness.records.annotation import Phase, RaterAnswer


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
    return _page("waiting", title, finding, foot, links=links, done=done)


def _page(template: str, title: str, finding: str, foot: Foot, **values: object) -> str:
    return render(
        f"annotation/{template}.html.jinja",
        title=title,
        finding=finding,
        foot=described(foot),
        policy=form_policy([asset("sort.js")]),
        annotation_style=markup(asset("annotation/style.css")),
        **values,
    )
