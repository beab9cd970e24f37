"""The page on which a person labels one item: its session, and a button a label, without a judge's verdict."""

from msgspec import Struct

from misstep.analysis.pages.browser.frame import policy
from misstep.analysis.pages.foot import Foot
from misstep.analysis.pages.rendering import asset, markup, render
from misstep.analysis.pages.trajectory import trajectory_values
from misstep.harness.trajectory import Trajectory


class Label(Struct, frozen=True):
    """A label that can be given: its key on the keyboard, its meaning, and whether it was given."""

    name: str
    key: str
    meaning: str = ""
    given: bool = False


class LabelQuestion(Struct, frozen=True):
    """An item to label: `title` is its subject in a few words, `place` its number among `of` items, from 1."""

    item: str
    title: str
    place: int
    of: int
    question: str
    labels: tuple[Label, ...]
    session: Trajectory


def labelling_page(question: LabelQuestion, *, labelled: int, foot: Foot) -> str:
    """Return the page of one item; keys 1 to 9 give its labels, b goes back, s skips it."""
    script = asset("label.js")
    values = trajectory_values(question.session, (), foot) | {
        "title": f"{question.place} of {question.of}: {question.title}",
        "finding": f"{labelled} of {question.of} are labelled.",
    }
    return render(
        "label.html.jinja",
        **values,
        asked=question,
        policy=policy([asset("sort.js"), script]).replace("form-action 'none'", "form-action 'self'"),
        label_script=markup(script),
    )


def done_page(labelled: int, foot: Foot) -> str:
    """Return the page after the last item."""
    from misstep.analysis.pages.page import page

    items = "1 item is" if labelled == 1 else f"{labelled} items are"
    return page(
        "All labelled", f"{items} labelled. You can close this page; the scores are in the terminal.", (), foot=foot
    )
