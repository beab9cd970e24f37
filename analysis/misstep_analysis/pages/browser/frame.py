"""The frame of pages with a browser of many things, one of which its script opens at a time.

Its policy forbids every request: only its own scripts run, known by their hash.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct

from misstep_analysis.pages.foot import Foot, described
from misstep_analysis.pages.rendering import asset, markup, render

_SCRIPTS = ("browser/elements.js", "browser/runs.js", "browser/listing.js")
_SCRIPTS_OF = {
    "judges/page.html.jinja": ("judges/items.js", "judges/item.js", "judges/browser.js"),
    "repairs/page.html.jinja": ("repairs/browser.js",),
    "runs/index.html.jinja": ("browser/judged_runs.js", "runs/index.js"),
    "sessions/page.html.jinja": ("browser/judged_runs.js", "sessions/browser.js"),
}
"""Template → the scripts of its browser, after those that all share."""

LINES_SHOWN = 200
"""How many of the things are in the page for readers without scripts."""


Line = TypeVar("Line")


class Listed(Struct, Generic[Line], frozen=True):
    """The things of a page: data for its script, by name, and lines for readers without scripts."""

    data: Mapping[str, str]
    lines: tuple[Line, ...]
    title: str
    notes: tuple[str, ...] = ()


def browser_page(
    template: str,
    *,
    title: str,
    finding: str,
    warnings: Iterable[str],
    foot: Foot,
    browser: Listed[Any] | None = None,
    **values: Any,
) -> str:
    """Return the page, with the things of its browser if it has one for the whole page."""
    if browser is not None:
        values |= {"browser": browser, "data": {name: markup(content) for name, content in browser.data.items()}}
    whole = "{\n" + "\n".join(map(asset, (*_SCRIPTS, *_SCRIPTS_OF[template]))) + "\n}"
    return render(
        template,
        title=title,
        finding=finding,
        warnings=tuple(warnings),
        foot=described(foot),
        policy=policy([asset("sort.js"), whole]),
        browser_style=markup(asset("browser/style.css")),
        browser_script=markup(whole),
        **values,
    )


def policy(scripts: Iterable[str]) -> str:
    """Return the content security policy of a page: nothing is loaded, and no script runs but these."""
    hashes = (b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
