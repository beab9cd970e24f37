"""Data sets of the Hugging Face hub: `hf://datasets/ORG/NAME@REVISION/PATH`, pinned to a commit before they are read.

`?config=C&split=S` instead of a path asks for the files of a split, as `datasets` finds them. Keys (HF_TOKEN) and the
server (HF_ENDPOINT) are the libraries' own affair.
"""

import re
from urllib.parse import parse_qsl, quote, unquote, urlencode

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.errors import InputError, UsageError
from misstep.harness.lake.drivers import missing_lake, reaching
from misstep.harness.progress import say

_SCHEME = "hf://"
_ADDRESS = re.compile(
    r"hf://datasets/(?P<name>[\w.-]+/[\w.-]+)"
    r"(?:@(?P<revision>refs/(?:convert/[^/?]+|pr/\d+)|[^/?]+))?(?P<path>(?:/[^?]*)?)(?:\?(?P<options>.*))?",
    re.DOTALL,
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_OPTIONS = ("config", "split")
_SHOWN = 10


class _Asked(Struct, frozen=True):
    name: str
    revision: str | None
    path: str
    options: dict[str, str]

    def top(self) -> str:
        revision = "" if self.revision is None else f"@{quote(self.revision, safe='')}"
        return f"{_SCHEME}datasets/{self.name}{revision}/"

    def address(self) -> str:
        options = f"?{urlencode(self.options)}" if self.options else ""
        return self.top().rstrip("/") + self.path + options


def is_of_hub(address: str) -> bool:
    """Return whether an address is one of the hub."""
    return address.startswith(_SCHEME)


def asks_for_a_split(address: str) -> bool:
    """Return whether an address asks for a configuration or a split of a data set rather than for files."""
    return is_of_hub(address) and "?" in address


def pinned(address: str) -> str:
    """Return an address with the commit that its revision is now, and print it to stderr."""
    parts = _parsed(address)
    if parts.revision is not None and _COMMIT.fullmatch(parts.revision):
        return parts.address()
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise missing_lake(f"the address {address}") from error
    with reaching(address):
        commit = HfApi().dataset_info(parts.name, revision=parts.revision).sha
    pinned = replace(parts, revision=commit).address()
    say(f"misstep: {address} is now {pinned}; give that address to read the same again.")
    return pinned


def files_of_split(address: str) -> tuple[str, frozenset[str]]:
    """Return the pinned address of a whole data set, and the names in it of the files of a split, or of all."""
    parts = _parsed(address)
    try:
        from datasets import load_dataset_builder
    except ImportError as error:
        raise missing_lake(f"the address {address}") from error
    config, split = parts.options.get("config"), parts.options.get("split")
    with reaching(address):
        try:
            builder = load_dataset_builder(parts.name, name=config, revision=parts.revision)
        except ValueError as error:  # it says which configurations there are
            why = " ".join(str(error).split())
            raise InputError(f"the configuration is not clear: {why}", "Give ?config=NAME.", file=address) from error
        files = builder.config.data_files or {}
    splits = [split] if split else list(files)
    if not set(splits) <= set(files):
        names = ", ".join(map(str, list(files)[:_SHOWN])) or "none"
        raise InputError(f"unknown split {split}", f"Known: {names}.", file=address)
    return parts.top(), frozenset(_name_of(str(file), parts, address) for name in splits for file in files[name])


def _name_of(file: str, parts: _Asked, address: str) -> str:
    if not is_of_hub(file) or _parsed(file).name != parts.name:
        raise InputError("the split has files elsewhere", "Give the addresses of its files.", file=address)
    return _parsed(file).path.removeprefix("/")


def _parsed(address: str) -> _Asked:
    match = _ADDRESS.fullmatch(address)
    if match is None:
        advice = "Give hf://datasets/ORG/NAME, with @REVISION and /PATH behind it where you like."
        raise UsageError(f"{address} is not an address of a data set of the Hugging Face hub", advice)
    options = dict(parse_qsl(match["options"] or "", keep_blank_values=True))
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown or (options and match["path"].strip("/")):
        what = f"the option {unknown[0]}" if unknown else "a path and a split"
        raise UsageError(f"{address} asks for {what}", "Give a path, or ?config=NAME&split=NAME.")
    revision = None if match["revision"] is None else unquote(match["revision"])
    return _Asked(match["name"], revision, match["path"].rstrip("/"), options)
