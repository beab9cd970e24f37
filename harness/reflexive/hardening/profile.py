"""The audit profile, one of the files of the target, and what its programs and its machine have: `programs.toml`."""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.reflexive.hardening.files import Files, Malformed

PROFILE = "etc/audit/profile.toml"


class Profile(Struct, frozen=True, forbid_unknown_fields=True):
    """Which rules apply, and how strictly; `allowed` has the accounts for which an exception is made, by its name."""

    limits: dict[str, int]
    allowed: dict[str, list[str]]
    not_applicable: list[str] = []

    def limit(self, name: str) -> int:
        """Return a threshold; raises `Malformed` where it has been taken out."""
        if name not in self.limits:
            raise Malformed(f"/{PROFILE}: it has no limit {name}")
        return self.limits[name]

    def excepted(self, name: str) -> frozenset[str]:
        """For whom an exception is made; raises `Malformed` where it has been taken out."""
        if name not in self.allowed:
            raise Malformed(f"/{PROFILE}: it has no exception {name}")
        return frozenset(self.allowed[name])


def read_profile(files: Files) -> Profile:
    """Return the audit profile of the target."""
    text = files.text(PROFILE)
    try:
        return msgspec.toml.decode(text, type=Profile)
    except msgspec.MsgspecError as error:
        raise Malformed(f"/{PROFILE}: {error}") from error


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
