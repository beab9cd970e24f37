"""What the configuration files of the target say, each read as its own program reads it.

In `sshd_config` the first value of a keyword counts, in `sysctl.conf` the last. In `sudoers` the last rule that matches
counts. In a PAM stack the order decides. Sources: sshd_config(5), sudoers(5), sysctl.d(5), pam.conf(5), shadow(5).
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from harness.errors import MisstepError
from harness.reflexive.hardening.files import Files, Unreadable

Style = Literal["sshd", "equals", "words"]
"""How a file of settings is read: keyword and value as in `sshd_config`, `key = value`, or `KEY value`."""


class Malformed(MisstepError):
    """A file of the target that its program refuses; says where and why."""


class Account(Struct, frozen=True):
    """A line of `passwd` with its line of `shadow`; days count as in shadow(5), `None` where none are given."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str
    password: str | None
    changed: int | None = None
    most_days: int | None = None
    expires: int | None = None


class SudoRule(Struct, frozen=True):
    """A rule of `sudoers`: who may run what, and whether a password is asked for."""

    users: tuple[str, ...]
    commands: tuple[str, ...]
    tags: tuple[str, ...]


class Sudoers(Struct, frozen=True):
    """All of `sudoers` and what it includes: the rules in their order, the defaults, the aliases."""

    rules: tuple[SudoRule, ...]
    defaults: tuple[tuple[str, str], ...]
    aliases: Mapping[str, tuple[str, ...]]


class PamLine(Struct, frozen=True):
    """A line of a PAM stack."""

    kind: str
    control: str
    module: str
    arguments: tuple[str, ...]


def settings(text: str, style: Style) -> dict[str, str]:
    """The settings of a text; keywords of `sshd` in small letters, up to its first `Match`."""
    found: dict[str, str] = {}
    for line in _said(text):
        key, value = _pair(line, "=" if style == "equals" else None)
        if style != "sshd":
            found[key] = value
        elif key.lower() == "match":
            break
        elif key.lower() == "allowusers" and "allowusers" in found:  # the only keyword that adds up here
            found["allowusers"] += f" {value}"
        else:
            found.setdefault(key.lower(), value)
    return found


def _said(text: str) -> Iterator[str]:
    """The lines without comments, those that end in a backslash with what follows."""
    for line in text.replace("\\\n", " ").splitlines():
        bare = line.strip()
        if bare and not bare.startswith(("#", ";")):
            yield bare


def _pair(line: str, sign: str | None) -> tuple[str, str]:
    key, _, value = line.replace("\t", " ").partition(sign or " ")
    return key.strip(), value.strip().strip('"')


def accounts(files: Files) -> dict[str, Account]:
    """The accounts by name; the first line of a name counts.

    Raises
    ------
    Unreadable, Malformed
        `passwd` or `shadow` is missing or no such file.
    """
    shadow: dict[str, list[str]] = {}
    for line in files.text("etc/shadow").splitlines():
        fields = line.split(":")
        if len(fields) != 9 or not all(_is_days(field) for field in fields[2:8]):
            raise Malformed(f"/etc/shadow: the line of {fields[0][:32]!r} is malformed")
        shadow.setdefault(fields[0], fields)
    found: dict[str, Account] = {}
    for line in files.text("etc/passwd").splitlines():
        fields = line.split(":")
        if len(fields) != 7 or not (fields[2].isdecimal() and fields[3].isdecimal()):
            raise Malformed(f"/etc/passwd: the line of {fields[0][:32]!r} is malformed")
        name, _, uid, gid, _, home, shell = fields
        secret = shadow.get(name)
        days = [int(field) if field else None for field in secret[2:8]] if secret else [None] * 6
        password = secret[1] if secret else None
        account = Account(name, int(uid), int(gid), home, shell, password, days[0], days[2], days[5])
        found.setdefault(name, account)
    return found


def _is_days(field: str) -> bool:
    return not field or (field.isdecimal() and len(field) < 9)


def groups_of(files: Files, name: str) -> frozenset[str]:
    """The groups that name an account as a member; raises `Unreadable` where there is no such file."""
    lines = [line.split(":") for line in files.lines("etc/group")]
    return frozenset(fields[0] for fields in lines if len(fields) == 4 and name in fields[3].split(","))


def sudoers(files: Files) -> Sudoers:
    """What `sudoers` says, with the files of folders that it includes.

    Raises
    ------
    Unreadable, Malformed
        It is missing, or something in it is no sudoers syntax: sudo refuses to run then.
    """
    rules: list[SudoRule] = []
    defaults: list[tuple[str, str]] = []
    aliases: dict[str, tuple[str, ...]] = {}
    for path, line in _sudo_lines(files, "etc/sudoers"):
        first, _, rest = line.partition(" ")
        if first.startswith("Defaults"):
            defaults += [(first.removeprefix("Defaults").lstrip(":"), option) for option in _options(rest, path)]
        elif first in ("User_Alias", "Cmnd_Alias"):
            name, sign, members = rest.partition("=")
            if not sign or not members.strip():
                raise Malformed(f"/{path}: syntax error in {line[:60]!r}")
            aliases[name.strip()] = _names(members)
        else:
            rules.append(_sudo_rule(line, path))
    return Sudoers(tuple(rules), tuple(defaults), aliases)


def _sudo_lines(files: Files, path: str, depth: int = 3) -> Iterator[tuple[str, str]]:
    mode = files.mode(path)
    text = files.text(path)
    if mode is not None and mode & 0o002:
        raise Malformed(f"/{path} is world writable")
    for line in text.replace("\\\n", " ").splitlines():
        bare = " ".join(line.split())
        word, _, folder = bare.partition(" ")
        if word in ("@includedir", "#includedir") and depth:
            for inner in files.matching(f"{folder.strip('/')}/*"):
                name = inner.rpartition("/")[2]
                if "." not in name and not name.endswith("~"):
                    yield from _sudo_lines(files, inner, depth - 1)
        elif bare and not bare.startswith("#"):
            yield path, bare


def _options(text: str, path: str) -> tuple[str, ...]:
    if not text or text.endswith(",") or text.count('"') % 2:
        raise Malformed(f"/{path}: syntax error in the Defaults {text[:60]!r}")
    return _names(text.replace('"', ""))


def _sudo_rule(line: str, path: str) -> SudoRule:
    left, sign, right = line.partition("=")
    *users, _ = left.split() or [""]
    right = right.strip()
    if right.startswith("("):
        right = right.partition(")")[2].strip()
    tags: list[str] = []
    while right.partition(":")[0].isupper() and ":" in right and right.partition(":")[0].isalpha():
        tag, _, right = right.partition(":")
        tags.append(tag)
        right = right.strip()
    if not (sign and users and right) or right.endswith(",") or not set(tags) <= {"NOPASSWD", "PASSWD", "NOEXEC"}:
        raise Malformed(f"/{path}: syntax error in {line[:60]!r}")
    return SudoRule(_names(" ".join(users)), _names(right), tuple(tags))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def pam_stack(files: Files, service: str, kind: str, depth: int = 5) -> list[PamLine]:
    """The lines of one kind of a PAM service, includes followed.

    Raises
    ------
    Unreadable, Malformed
        A file of it is missing, or a line has too few words.
    """
    found: list[PamLine] = []
    for line in files.lines(f"etc/pam.d/{service}"):
        words = _pam_words(line)
        if words[0] == "@include" and len(words) == 2:
            included = words[1]
        elif len(words) < 3 or words[0].lstrip("-") not in ("auth", "account", "password", "session"):
            raise Malformed(f"/etc/pam.d/{service}: no PAM line: {line[:60]!r}")
        elif words[0].lstrip("-") != kind:
            continue
        elif words[1] not in ("include", "substack"):
            found.append(PamLine(kind, words[1], words[2], tuple(words[3:])))
            continue
        else:
            included = words[2]
        if not depth:
            raise Malformed(f"/etc/pam.d/{service}: it includes itself")
        found += pam_stack(files, included, kind, depth - 1)
    return found


def _pam_words(line: str) -> list[str]:
    """The words of a line; a control in brackets is one."""
    before, bracket, rest = line.partition("[")
    if not bracket:
        return line.split()
    inside, _, after = rest.partition("]")
    return [*before.split(), f"[{inside}]", *after.split()]


def sysctl(files: Files) -> dict[str, str]:
    """What the next start sets: `sysctl.d` in the order of its names, then `sysctl.conf`; the last counts."""
    found: dict[str, str] = {}
    for path in (*files.matching("etc/sysctl.d/*.conf"), "etc/sysctl.conf"):
        try:
            found |= settings(files.text(path), "equals")
        except Unreadable:
            continue
    return found


def table(files: Files, path: str) -> list[list[str]]:
    """The lines of a file, each as its words; raises `Unreadable`."""
    return [line.split() for line in files.lines(path)]
