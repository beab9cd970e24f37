"""`misstep repair review codes`: themes of comments on patches."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import Json, json_text


def codes(
    codings: Annotated[
        Path | None, typer.Argument(metavar="CODINGS.csv", help="CSV file with the codes of each comment and coder.")
    ] = None,
    json: Json = False,
) -> None:
    """Count the themes of comments, and how far their coders agree.

    CODINGS.csv has the columns comment, coder and codes, with several codes separated by semicolons:

    c1,ann,gratitude;already_fixed

    A row without codes says that none fits. Without a file the command lists the codes and their meanings.
    """
    from misstep.analysis.measures.repair.feedback_codes import code_book, codings_document, codings_table, read_codings
    from misstep.analysis.pages import table_text

    if codings is None:
        book = code_book()
        blocks = (
            [theme, *(f"  {code:<15} {meaning}" for code, meaning in of.codes.items())] for theme, of in book.items()
        )
        print(json_text(book) if json else "\n\n".join("\n".join(block) for block in blocks))
    elif json:
        print(json_text(codings_document(read_codings(codings))))
    else:
        print(table_text(codings_table(read_codings(codings), codings.name)), end="")
