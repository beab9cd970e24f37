"""The templates of pages: loaded once, escaping everything that is not marked as markup."""

from functools import cache, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from misstep_harness.escaping import printable

_TEMPLATES = "templates"


def render(template: str, **values: Any) -> str:
    """Return a template of this package with its values, everything escaped that is not `Markup`."""
    return _environment().get_template(template).render(**values)


def markup(text: str) -> Markup:
    """Return text that is markup already: only what this package made, with all text from outside escaped."""
    return Markup(text)  # noqa: S704 (the one door; see above)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("misstep_analysis.pages", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["zip"] = partial(zip, strict=True)
    environment.globals["style"] = markup(asset("style.css"))
    environment.globals["script"] = markup(asset("sort.js"))
    return environment


def _shown(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def asset(name: str) -> str:
    """Return a style or script of this package."""
    return (files("misstep_analysis.pages") / _TEMPLATES / name).read_text(encoding="utf-8").strip()
