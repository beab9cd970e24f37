"""Options of the commands that classify."""

from typing import Annotated

import typer

from misstep.harness.classifiers import CLASSIFIERS

Categories = Annotated[
    str, typer.Option(metavar="A,B", help=f"Categories to look for; by default {', '.join(CLASSIFIERS)}.")
]
