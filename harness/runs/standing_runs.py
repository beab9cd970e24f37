"""The manifest of a run that somebody names, and what is wrong with a folder that has none."""

from pathlib import Path

from misstep.harness.errors import InputError
from misstep.harness.journal.records import MANIFEST, Manifest, read_manifest
from misstep.harness.runs.shards.layout import refuse_unmerged


def manifest_of(folder: Path, advice: str) -> Manifest:
    """Return the manifest of the run in a folder."""
    refuse_unmerged(folder)
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"there is no {MANIFEST}", advice, file=folder)
    return manifest
