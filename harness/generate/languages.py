"""Programming languages as a made-up project needs them, as `languages.toml` lists them: files, tests, their output."""

from functools import cache

import msgspec
from msgspec import Struct

from misstep.harness.generate.voice import FOLDER


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One language's file layout, text and commands.

    - `suffix`, `source_folder`, `test_file`, `manifest`: Where things lie; `test_file` has the module's name for `{}`.
    - `head`, `function`, `comparison`, `limit`, `test`: Text with `$name`, `$upper`, `$noun`, `$number` and `$module`;
      `limit` and `comparison` are the lines that tasks ask to change, each once in a file.
    - `camel`: Whether names are written likeThis.
    - `test_all`, `test_one`, `lint`, `install`, `build`: Commands; `test_one` has the test file for `{}`, `install` a
      package.
    - `passed`, `failed_line`, `failed`: What the tests print, with `{passed}`, `{failed}`, `{name}`, `{file}`,
      `{left}`, `{right}` and `{seconds}`.
    - `failed_code`: The exit code of a run with failed tests.
    """

    name: str
    suffix: str
    source_folder: str
    test_file: str
    manifest: str
    head: str
    function: str
    comparison: str
    limit: str
    test: str
    camel: bool
    test_all: str
    test_one: str
    lint: str
    install: str
    build: str
    passed: str
    failed_line: str
    failed: str
    failed_code: int = 1


@cache
def load_languages() -> tuple[Language, ...]:
    """Return the languages of the data file."""
    raw = (FOLDER.parent / "languages.toml").read_bytes()
    return tuple(msgspec.toml.decode(raw, type=dict[str, list[Language]])["language"])
