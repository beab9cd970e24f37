"""The foot of a page: data sets with version and licence, seed, versions, the command that makes it again."""

import platform
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.path_names import HERE, HOME, SERVER, private_places, without_places
from misstep_harness.places import data_folder

_VERSIONS_SHOWN = ("numpy", "scipy", "pandas", "statsmodels", "matplotlib")
_REGISTRY = "datasets.toml"
_COMMIT_DIGITS = 12


class Dataset(Struct, frozen=True):
    """A data set as a foot names it; `version` is its upstream repositories with the commit of each."""

    name: str
    title: str
    version: str
    licence: str


class Foot(Struct, frozen=True):
    """Where a page comes from.

    `command` makes it again; `datasets` are names in `data/datasets.toml`; `inputs` are a user's own files, each as
    one sentence; `seed` is given if anything was drawn.
    """

    command: str
    datasets: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    seed: int | None = None


def described(foot: Foot) -> dict[str, Any]:
    """Return the values of the foot's template, without the server that was asked, the home and the present folder."""
    named = private_places(foot.command.split())
    places = {place: name for place, name in named.items() if name in (SERVER, HERE, HOME)}
    return {
        "command": without_places(foot.command, places),
        "datasets": datasets(foot.datasets),
        "inputs": tuple(without_places(str(one), places) for one in foot.inputs),
        "seed": foot.seed,
        "versions": versions(),
    }


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return name and version of each package that computed figures."""
    return (
        ("misstep", version("misstep")),
        ("Python", platform.python_version()),
        *((name, number) for name in _VERSIONS_SHOWN if (number := _installed(name))),
    )


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def datasets(names: Iterable[str]) -> tuple[Dataset, ...]:
    """Return the data sets of these names, in alphabetical order, as the registry describes them."""
    wanted = sorted(set(names))
    if not wanted:
        return ()
    with (data_folder() / _REGISTRY).open("rb") as stream:
        registry: dict[str, Mapping[str, Any]] = tomllib.load(stream)["sets"]
    unknown = [name for name in wanted if name not in registry]
    if unknown:
        raise InputError(
            f"no data set {', '.join(unknown)}",
            "A table's datasets are names in this file.",
            file=f"data/{_REGISTRY}",
        )
    return tuple(_dataset(name, registry[name]) for name in wanted)


def _dataset(name: str, entry: Mapping[str, Any]) -> Dataset:
    sources = entry["sources"].values()
    commits = [f"{source['repository']} at {source['commit'][:_COMMIT_DIGITS]}" for source in sources]
    return Dataset(name, entry["title"], "; ".join(commits), entry["licence"])
