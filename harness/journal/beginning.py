"""The manifest of a run that begins now, with this version on this Python."""

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from misstep.harness.journal.records import SCHEMA, Inputs, Manifest
from misstep.harness.version import __version__


def new_manifest(
    command: str, settings: dict[str, Any], inputs: Inputs, arguments: Iterable[str], folder: str = ""
) -> Manifest:
    """Return the manifest of a run that begins now."""
    version, python = __version__, platform.python_version()
    return Manifest(SCHEMA, command, list(arguments), version, python, now(), settings, inputs, folder)


def now() -> str:
    """Return the time as a manifest has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
