"""What each public data set is, which files it has and where they come from: `data/datasets.toml` and a list a set.

    [some_set]                               # data/datasets.toml
    title = "Runs of one agent, labelled"
    licence = "MIT"
    citation = "A. Author, A paper, 2025, arXiv 2501.00000"
    left_out = "what upstream has and this layout has not"
    [some_set.sources.main]
    repository = "owner/name"
    commit = "40 hex digits"
    [some_set.derived]
    "counts.csv" = "one row a run: its id and number of turns"
    [some_set.questions.main]
    kind = "triage"
    asks = "Did the run do its task?"
    raters = ["annotators"]
    labels = {passed = "it did", failed = "it did not"}

    file,form,bytes,sha256,source,upstream_path,upstream_bytes,upstream_sha256      # data/datasets/some_set.csv
    runs/1.json.gz,gzip,2048,9f…,main,data/runs/1.json,,

`bytes` and `sha256` are of a file's content, uncompressed if its name ends in `.gz`. What a derived file is made of is
in `data/datasets/some_set.inputs.csv` if Misstep can make it.
"""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from stat import S_ISDIR
from typing import Literal

from msgspec import Struct

from misstep_harness.errors import InputError, MissingPrerequisite, UsageError
from misstep_harness.forms import csv_form, toml_form
from misstep_harness.items import Kind
from misstep_harness.places import cache_folder, data_folder

Form = Literal["bytes", "gzip", "redacted", "derived"]
"""How a file here comes from upstream: unchanged; compressed; unchanged but for task texts that the benchmark's
authors ask not to spread, so that the upstream bytes do as well; made from upstream files by a stated rule."""


class Source(Struct, frozen=True):
    """A public repository at a pinned commit."""

    repository: str
    commit: str


class DataFile(Struct, frozen=True):
    """One file of a set; `source` and `upstream_path` are empty for a derived one.

    `upstream_bytes` and `upstream_sha256` only if upstream's content is not the one here.
    """

    file: str
    form: Form
    bytes: int
    sha256: str
    source: str = ""
    upstream_path: str = ""
    upstream_bytes: int | None = None
    upstream_sha256: str = ""


class UpstreamInput(Struct, frozen=True):
    """One upstream file of which the derived file `file` is made.

    `sha256` is missing if only what is made of it can be checked, and so is `bytes` if that is not known; of a
    `left_out` one the derived file has the name and not the text.
    """

    file: str
    source: str
    upstream_path: str
    bytes: int | None = None
    sha256: str = ""
    left_out: bool = False


class DataSetQuestion(Struct, frozen=True, omit_defaults=True):
    """What a set's labels answer, with the fields of `Benchmark`; loaders fill in what the files alone tell."""

    kind: Kind
    asks: str = ""
    title: str = ""
    labels: dict[str, str] = {}
    raters: tuple[str, ...] = ()
    positive: str = ""
    shown: tuple[str, ...] = ()
    version: int = 1


class DataSet(Struct, frozen=True, omit_defaults=True):
    """One public data set; `derived` says by what rule each derived file is made, `questions` has `main` and others."""

    title: str
    licence: str
    citation: str
    sources: dict[str, Source]
    left_out: str = ""
    derived: dict[str, str] = {}
    questions: dict[str, DataSetQuestion] = {}


class _Registry(Struct, frozen=True):
    address: str
    sets: dict[str, DataSet]


@cache
def _registry() -> _Registry:
    path = data_folder() / "datasets.toml"
    return toml_form(path.read_bytes(), _Registry, path, "")


def address_template() -> str:
    """Return the address of an upstream file, with `{repository}`, `{commit}` and `{path}` to fill in."""
    return _registry().address


def data_sets() -> dict[str, DataSet]:
    """Return every registered set, name → what it is."""
    return _registry().sets


def data_set(name: str) -> DataSet:
    """Return one registered set."""
    known = data_sets()
    if name not in known:
        raise UsageError(f"unknown data set {name!r}", f"Known: {', '.join(sorted(known))}.")
    return known[name]


@cache
def files_of(name: str) -> tuple[DataFile, ...]:
    """Return the files that a set has, in order of name."""
    data_set(name)
    path = data_folder() / "datasets" / f"{name}.csv"
    return tuple(csv_form(path.read_text("utf-8"), DataFile, path))


@cache
def inputs_of(name: str) -> tuple[UpstreamInput, ...]:
    """Return the upstream files of which a set's derived files are made, if Misstep can make them."""
    path = data_folder() / "datasets" / f"{name}.inputs.csv"
    if not path.is_file():
        return ()
    return tuple(csv_form(path.read_text("utf-8"), UpstreamInput, path, optional=("left_out",)))


def made_by_hand(name: str) -> dict[str, str]:
    """Return the files of a set that Misstep cannot make, and the rule of each; none if it can be fetched whole."""
    makeable = {known.file for known in inputs_of(name)}
    return {file: rule for file, rule in data_set(name).derived.items() if file not in makeable}


def how_to_get(names: Iterable[str]) -> str:
    """Return what brings sets here that are not, in a sentence or two: nobody is sent for what cannot be brought."""
    by_hand = {name: made_by_hand(name) for name in names}
    whole = [name for name, files in by_hand.items() if not files]
    partly = [name for name, files in by_hand.items() if files and len(files) < len(files_of(name))]
    never = [name for name, files in by_hand.items() if len(files) == len(files_of(name))]
    listed = "`misstep datasets list` has the rule of each"
    sentences = (
        f"Run `misstep datasets fetch {' '.join(whole)}`." if whole else "",
        f"`misstep datasets fetch {' '.join(partly)}` brings the set in part: "
        f"{sum(len(by_hand[name]) for name in partly):,} of its files are made by hand, and {listed}."
        if partly
        else "",
        f"The files of {', '.join(never)} are made by hand: {listed}." if never else "",
    )
    return " ".join(filter(None, sentences))


def fetched_folder(name: str) -> Path:
    """Return where `misstep datasets fetch` puts a set."""
    return cache_folder() / "datasets" / name


def named_data_folder(data: Path | None = None) -> Path | None:
    """Return the folder of data sets that was named, by `data` or else by `MISSTEP_DATA`."""
    environment = os.environ.get("MISSTEP_DATA")
    if data is None and not environment:
        return None
    folder = data if data is not None else Path(str(environment))
    try:
        if S_ISDIR(folder.stat().st_mode):
            return folder
        problem = "is not a folder"
    except (OSError, ValueError) as error:
        problem = f"cannot be opened: {getattr(error, 'strerror', None) or error}"
    raise UsageError(
        f"{'--data' if data is not None else 'MISSTEP_DATA'} {folder} {problem}",
        "Give the parent folder of the data sets, or leave it out to use what "
        "`misstep datasets fetch NAME` downloaded.",
    )


def locate(name: str, data: Path | None = None) -> Path:
    """Return the folder that holds a set's files; one with nothing in it holds none."""
    data_set(name)
    named = named_data_folder(data)
    places = [] if named is None else [named / name]
    if data is None:
        places.append(fetched_folder(name))
    for place in places:
        if _holds_something(place):
            return place
    looked = ", ".join(f"{place}, which is empty" if place.is_dir() else str(place) for place in places)
    raise MissingPrerequisite(
        f"the data set {name} is not on this machine (looked in {looked})",
        f"{how_to_get([name])} Or name its folder with --data or MISSTEP_DATA.",
    )


def located(name: str, data: Path | None = None) -> Path | None:
    """Return the folder that holds a set's files, as `locate` gives it; `None` if the set is not available."""
    try:
        return locate(name, data)
    except MissingPrerequisite:
        return None


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", "Make it readable.", file=folder) from error


def missing_files(name: str, folder: Path) -> tuple[str, ...]:
    """Return the registered files of a set that are not in its folder."""
    return tuple(file.file for file in files_of(name) if not (folder / file.file).is_file())
