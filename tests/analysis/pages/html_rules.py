"""Rules that every page keeps, read from its text without a browser."""

import json
import re
import zlib
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
LOADING = frozenset({"src", "srcset", "data", "poster", "href", "xlink:href", "action", "formaction", "background"})


class Page(HTMLParser):
    """A page's elements: whether they nest, what they refer to, what they are called."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.untitled_drawings = 0
        self.text = ""
        self._awaiting_title = False
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element is called and refers to."""
        self.tags.append(tag)
        if self._awaiting_title and tag != "title":
            self.untitled_drawings += 1
        self._awaiting_title = tag == "svg"
        for name, value in attrs:
            if name in LOADING:
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            if name.startswith("on"):
                self.wrong.append(f"{name} on <{tag}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Note an end that does not fit."""
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        """Keep the words that a reader sees."""
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


def read_embedded(content: str) -> Any:
    """What the page's script reads: a value, or the value that a string holds compressed."""
    result = json.loads(content)
    return json.loads(zlib.decompress(b64decode(result))) if isinstance(result, str) else result


def check_page(text: str) -> Page:
    """The page, once it keeps every rule: it nests, loads nothing, has no id twice, names each drawing."""
    page = Page(text)
    assert page.wrong == []
    outside = [
        address for address in page.addresses if re.match(r"(?:[a-z][a-z+.-]*:)?//|(?!data:)[a-z][a-z+.-]*:", address)
    ]
    assert outside == []
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert sorted(set(page.ids)) == sorted(page.ids)
    assert page.untitled_drawings == 0
    assert {address[1:] for address in page.addresses if address.startswith("#")} <= set(page.ids)
    return page
