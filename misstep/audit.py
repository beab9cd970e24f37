"""`misstep audit`: recompute printed figures and find those that cannot be right."""

import shlex
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.common import Html, Json, command_app, json_text, path_or_address, write_file
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_analysis.audit.findings import Finding

app = command_app()


@app.command()
def audit(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...", help="CSV or TOML files, or names of shipped papers; by default all papers."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List reproduced figures one by one as well.")] = False,
    fail_on: Annotated[
        Literal["differs", "impossible"] | None,
        typer.Option(help="Exit with 1 if a figure has this status; `differs` includes `impossible`."),
    ] = None,
    json: Json = False,
    html: Html = None,
) -> None:
    """Recompute printed figures from each other and name those that cannot be right.

    A CSV file has one figure per row, in the columns id, check, printed and inputs:

    solved,percentage,49.0%,n=123

    The inputs are key=value;key=value. Give those that the source prints and leave out the rest.

    The checks and their keys:

    \b
    percentage        n count repeats, or without n: most, and beside=74.2% 71.0%
                      (other shares of the same items, at most so many)
    mean              n step repeats
    two_proportion_p  n1 n2, and x1 x2 or share1 share2
    stars             p, and the levels of the legend: one two three four
    precision_recall  tp fp fn tn positives negatives n; beside them precision
                      recall f1 accuracy kappa other_precision other_recall;
                      measure=recall names the printed one
    kappa             n agreement labels margins, or matrix=20 5/5 20
    rater_agreement   n labels agreements kappas (raters 1-2, 1-3, 2-3)
    sum               parts total
    difference        a b
    relative_change   from to
    share_of          part whole
    same              other

    A kappa takes the agreement of the percentage that has the same name ("A1-A2 agreement" and "A1-A2 kappa").

    Write an agreement as 9/12, 75% or 0.75. Parts, margins, agreements and kappas are lists: parts=93 26. A TOML file
    has the form of data/published. The shipped papers are wink, autotriage, engineering_agent and reflexive.
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep_analysis.audit.findings import document, is_at_least
    from misstep_analysis.published import published_papers

    findings = [finding for name in files or published_papers() for finding in _findings(name)]
    if html is not None:
        from misstep_analysis.audit.overview import findings_page

        command = shlex.join(["misstep", "audit", *(files or []), "--html", str(html)])
        write_file("--html", html, findings_page(findings, command, files or []))
    if json:
        print(json_text(document(findings)))
    else:
        from misstep_analysis.audit.overview import findings_text

        print(findings_text(findings, every=every))
    if fail_on is not None and any(is_at_least(finding, fail_on) for finding in findings):
        raise typer.Exit(1)


def _findings(name: str) -> "list[Finding]":
    from misstep_analysis.audit.findings import paper_findings, row_findings
    from misstep_analysis.audit.user_file import read_user_rows
    from misstep_analysis.published import load_paper, published_papers, read_paper

    file = path_or_address(name)
    if not file.exists():
        papers = published_papers()
        if name in papers:
            return paper_findings(load_paper(name), name)
        raise UsageError(f"unknown file or paper {name}", f"Give a CSV or TOML file, or one of: {', '.join(papers)}.")
    if file.suffix.lower() != ".toml":
        return row_findings(read_user_rows(file), name)
    findings = paper_findings(read_paper(file), name)
    if not findings:
        raise UsageError(f"{name}: no figure has a check", "Name the check of at least one figure.")
    return findings
