"""`misstep group`: the reasons or errors of a run in groups of like words, to read them faster."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.options.common import Json, Seed, command_app, json_text, need_scikit_learn, path_alone

app = command_app()


Texts = Annotated[
    Literal["reasons", "errors"],
    typer.Option(help="Texts to group: the judge's reasons, or the errors of what has no answer."),
]


@app.command()
def group(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a run with verdicts, or of repairs.")
    ],
    texts: Texts = "reasons",
    least: Annotated[int, typer.Option(min=2, metavar="N", help="Fewest texts that make a group.")] = 3,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Group the reasons or errors of a run by their words.

    The groups help with reading: each has its words, an example, its members, and how stable it is when a fifth of the
    texts is left out. Their number and sizes are not finding, and no page or table counts them.

    \b
    misstep group RUN
    misstep group RUN --texts errors --json
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.studies.text_groups import grouped, groups_text

    need_scikit_learn("grouping texts")
    groups, examples = grouped(run, texts, least, seed)
    print(json_text(groups) if json else groups_text(groups, examples, texts), end="\n" if json else "")
