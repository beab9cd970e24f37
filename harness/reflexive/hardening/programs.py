"""What the programs of the target know, and what its machine has: `programs.toml`."""

from functools import cache
from pathlib import Path

import msgspec


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What configuration may say, and what no file of the target decides."""

    sshd_keywords: frozenset[str]
    sshd_switches: frozenset[str]
    sshd_ciphers: frozenset[str]
    pam_modules: frozenset[str]
    devices: frozenset[str]
    command_line: str


@cache
def known_to_programs() -> Known:
    """Return the content of `programs.toml`."""
    return msgspec.toml.decode(Path(__file__).with_name("programs.toml").read_bytes(), type=Known)
