"""Prompts are Markdown files with front matter, one prompt a file.

    ---
    name: is_it_fruit
    version: 2
    placeholders: labels, text
    ---
    You say what a text is about. Labels:
    {labels}

    <!-- item -->

    {text}

The front matter may be left out: the prompt then has the name of its file, the version is the beginning of the file's
SHA-256, and the placeholders are those that the text uses.

The text above the line `<!-- item -->` is the system's message, the text below it is asked anew for each item;
without that line all of it is asked. A placeholder that is not declared, or declared and not used, is an error. Braces
around anything but a lower-case name are text.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from misstep_harness.beneath import inside
from misstep_harness.errors import InputError, UsageError

ITEM_LINE = "<!-- item -->"
_SHIPPED = Path(__file__).parent / "prompts"
_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*\r?\n", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_FORM = (
    "Open the file with ---, lines `name:`, `version:` and `placeholders:`, and --- again; or leave all of that out."
)


class Prompt(Struct, frozen=True):
    """A prompt: the system's message (may be empty), what is asked, and which version of it this is."""

    name: str
    version: str
    system: str
    user: str
    placeholders: frozenset[str]
    sha256: str

    @property
    def label(self) -> str:
        """Return how a verdict names it: `name@version+sha`, the first 12 digits of the file's digest."""
        return f"{self.name}@{self.version}+{self.sha256[:12]}"


def shipped_prompts() -> tuple[str, ...]:
    """Return the prompts that come with Misstep, as `room/name`."""
    return tuple(sorted(path.relative_to(_SHIPPED).with_suffix("").as_posix() for path in _SHIPPED.rglob("*.md")))


def load_prompt(name: str, beside: Path | None = None) -> Prompt:
    """Return the prompt in a file, or a shipped one."""
    file = Path(name) if beside is None else inside(beside, name)
    if not file.is_file():
        file = _SHIPPED / f"{name}.md"
        if name not in shipped_prompts():
            known = ", ".join(shipped_prompts())
            raise UsageError(f"unknown prompt {name!r}", f"Give a file beside the judge, or one of: {known}.")
    try:
        data = file.read_bytes()
        return parse_prompt(data.decode("utf-8-sig"), file, hashlib.sha256(data).hexdigest())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", "A prompt is a text in UTF-8.", file=file) from error


@cache
def shipped_prompt(name: str) -> Prompt:
    """Return a prompt that comes with Misstep, read once a process."""
    return load_prompt(name, _SHIPPED)


def parse_prompt(text: str, file: Path, sha256: str) -> Prompt:
    """Return the prompt in the text of a file; raises `InputError` where it breaks the form."""
    front = _FRONT.match(text)
    if front is None and text.startswith("---"):
        raise InputError("the front matter does not end", _FORM, file=file, line=1)
    fields = {"name": file.stem, "version": sha256[:12]} if front is None else _fields(front[1], file)
    for field in ("name", "version"):
        if not fields.get(field):
            raise InputError(f"the front matter has no {field}", _FORM, file=file, field=field)
    body = text if front is None else text[front.end() :]
    system, parted, user = f"\n{body}".partition(f"\n{ITEM_LINE}")
    if not parted:
        system, user = "", system
    used = placeholders_in(system + user)
    declared = frozenset(name for name in re.split(r"[\s,\[\]]+", fields.get("placeholders", "")) if name)
    declared = used if front is None else declared
    _expect_same(declared, used, file)
    if not user.strip():
        raise InputError("the prompt has no question", f"Write what to ask below {ITEM_LINE}.", file=file)
    return Prompt(fields["name"], fields["version"], system.strip(), user.strip(), declared, sha256)


def _fields(front: str, file: Path) -> dict[str, str]:
    fields: dict[str, str] = {}
    for number, line in enumerate(front.splitlines(), start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, value = line.partition(":")
        key = key.strip()
        if not colon or key not in ("name", "version", "placeholders"):
            raise InputError(f"the front matter has {line.strip()!r}", _FORM, file=file, line=number)
        fields[key] = value.strip().strip("\"'")
    return fields


def placeholders_in(text: str) -> frozenset[str]:
    """Return the names of the placeholders that a text has."""
    return frozenset(_PLACEHOLDER.findall(text))


def _expect_same(declared: Iterable[str], used: Iterable[str], file: Path) -> None:
    for verb, names in (
        ("is used and not declared", set(used) - set(declared)),
        ("is declared and not used", set(declared) - set(used)),
    ):
        if names:
            advice = "Declare exactly the placeholders that the text uses."
            raise InputError(f"{{{min(names)}}} {verb}", advice, file=file, field="placeholders")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled, in one pass: braces inside a value stay what they are."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise UsageError(f"{{{name}}} has no value", f"Values: {', '.join(sorted(values))}.")
        return values[name]

    return _PLACEHOLDER.sub(value, text)
