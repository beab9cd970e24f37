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
from misstep_harness.classifiers import CLASSIFIERS
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_harness.runs.classify import InstructionSources
if TYPE_CHECKING:
    from misstep.classify.judges import CategoryJudges


Categories = Annotated[
    str, typer.Option(metavar="A,B", help=f"Categories to look for; by default {', '.join(CLASSIFIERS)}.")
]


class RulesOptions(OptionGroup, frozen=True):
    """The files of project instructions, and whether they are looked for."""

    panel = "Project instructions"
    rules: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            parser=path_alone,
            help="Rules of every session for the judges, such as CLAUDE.md. May be given several times.",
        ),
    ] = None
    no_rules: Annotated[
        bool,
        typer.Option("--no-rules", help="Look for no CLAUDE.md and AGENTS.md in the folders of the sessions."),
    ] = False

    def read(self) -> "InstructionSources":
        """Return which rules count; those of the named files are read."""
        from misstep_harness.runs.classify import InstructionSources, read_rules

        return InstructionSources(read_rules(self.rules or ()), find=not self.no_rules)

    @property
    def line(self) -> list[str]:
        """Return the options as they were given."""
        return [*(word for file in self.rules or () for word in ("--rules", str(file)))] + [
            "--no-rules"
        ] * self.no_rules


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
                client = client_settings(known, judge.base_url)
                opened.setdefault(category, CategoryJudge(category, judge, client))
            yield CategoryJudges([opened[one] for one in categories if one in opened], self.gold, known.in_flight)


def settle(category_judges: "CategoryJudges | None") -> None:
    """Say what the judges of categories were not asked or could not answer, and end with an exit code that says so."""
    if category_judges is not None and category_judges.missing is not None:
        raise category_judges.missing
    for ended in category_judges.ends if category_judges is not None else ():
        exit_unless_whole(ended)
