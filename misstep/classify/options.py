"""Options for the judges that are asked about what the rules of `misstep classify` leave open."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.options.common import path_alone
from misstep.options.groups import OptionGroup
from misstep.options.model import ModelOptions, client_settings, with_local_model
from misstep.options.run_folders import exit_unless_whole
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep.classify.judges import CategoryJudges


class JudgesOptions(OptionGroup, frozen=True):
    """The judges of categories, and the labels of people by which their shares are corrected."""

    panel = "Judges"
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JUDGE",
            help="Judge of a category, as for `judge run`, instead of the shipped one. May be given several times.",
        ),
    ] = None
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            parser=path_alone,
            help="Labels of people (item,category,label) by which the shares are corrected for errors.",
        ),
    ] = None

    @contextmanager
    def opened(self, asking: ModelOptions, categories: Sequence[str]) -> "Iterator[CategoryJudges]":
        """Open the judges that are asked after the rules: those that are named, and with a model the shipped ones."""
        from misstep.classify.judges import CategoryJudges
        from misstep_harness.judges import shipped_judges
        from misstep_harness.runs.judging.category_judges import CategoryJudge, category_of
        from misstep_harness.runs.judging.known_judges import known_judge

        named = self.judge or []
        with with_local_model(asking) as known:
            opened: dict[str, CategoryJudge] = {}
            for name in (*named, *(one for one in categories if asking.asks and one in shipped_judges())):
                judge = known_judge(name, model=known.model, base_url=known.base_url)
                category = category_of(judge, name, categories)
                if category in opened and len(opened) < len(named):
                    raise UsageError(f"two judges are about {category}", "Name one judge for each category.")
                client = client_settings(known, getattr(judge, "base_url", None))
                opened.setdefault(category, CategoryJudge(category, judge, client))
            yield CategoryJudges([opened[one] for one in categories if one in opened], self.gold, known.in_flight)


def settle(category_judges: "CategoryJudges | None") -> None:
    """Say what the judges of categories were not asked or could not answer, and end with an exit code that says so."""
    if category_judges is not None and category_judges.missing is not None:
        raise category_judges.missing
    for ended in category_judges.ends if category_judges is not None else ():
        exit_unless_whole(ended)
