"""Prose in Markdown as HTML: tables allowed, raw HTML shown as text, nothing loaded from elsewhere."""

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from misstep_harness.escaping import printable


def markdown_html(text: str) -> str:
    """Return Markdown as HTML.

    A link to another site becomes its text with the address behind it, an image its description: a page asks
    nobody for anything. A link to a notebook becomes one to its page.
    """
    html: str = _parser().render(printable(text))
    return html


def first_heading(text: str, mark: str = "# ") -> tuple[str, str]:
    """Return the heading of this level that a text opens with, or an empty one, and the rest."""
    line, _, rest = text.lstrip().partition("\n")
    if line.startswith(mark):
        return line.removeprefix(mark).strip(), rest
    return "", text


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("link_close", _link_close)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return self.renderInlineAsText(tokens[index].children, options, env)


def _link_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    address = str(token.attrs["href"])
    if _is_outside(address):
        return "<span>"
    if urlsplit(address).path.endswith(".ipynb"):
        token.attrSet("href", address.replace(".ipynb", ".html", 1))
    return self.renderToken(tokens, index, options, env)


def _link_close(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    opening = next(token for token in reversed(tokens[:index]) if token.type == "link_open")
    address = str(opening.attrs["href"])
    if not _is_outside(address):
        return self.renderToken(tokens, index, options, env)
    return f" <small>({escape(address)})</small></span>"


def _table_open(*_: object) -> str:
    return '<div class="scroll" tabindex="0">\n<table>\n'


def _table_close(*_: object) -> str:
    return "</table>\n</div>\n"


def _is_outside(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc)
