"""Read the target's configuration files as their programs do: sshd_config(5), sudoers(5), sysctl.d(5), pam.conf(5)."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import dropwhile
from typing import Literal

from msgspec import Struct

from misstep.harness.reflexive.hardening.files import Files, Malformed, UnreadableFile

Style = Literal["sshd", "equals", "words"]
"""How a file of settings is read: keyword and value as in `sshd_config`, `key = value`, or `KEY value`."""


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
    """A rule of `sudoers`: who may run what, and the commands among it for which no password is asked."""

    users: tuple[str, ...]
    commands: tuple[str, ...]
    free: frozenset[str] = frozenset()


class Sudoers(Struct, frozen=True):
    """All of `sudoers` and what it includes: the rules in their order, the defaults, the aliases."""

    rules: tuple[SudoRule, ...]
    defaults: tuple[tuple[str, str], ...]
    aliases: Mapping[str, tuple[str, ...]]

    def meant(self, names: Iterable[str]) -> frozenset[str]:
        """Return what names mean: aliases, and aliases of aliases, by what they stand for."""
        todo, names_done = list(names), set[str]()
        while todo:
            name = todo.pop()
            if name not in names_done:
                names_done.add(name)
                todo += self.aliases.get(name, ())
        return frozenset(names_done - self.aliases.keys())

    def rules_of(self, account: Account, groups: frozenset[str]) -> list[SudoRule]:
        """Return the rules that name an account: by its name, its number, a group, an alias, or all."""
        names = {account.name, f"#{account.uid}", "ALL", *(f"%{group}" for group in groups)}
        return [rule for rule in self.rules if self.meant(rule.users) & names]


class PamLine(Struct, frozen=True):
    """A line of a PAM stack."""

    kind: str
    control: str
    module: str
    arguments: tuple[str, ...]


def settings(text: str, style: Style) -> dict[str, str]:
    """The settings of a text; keywords of `sshd` in small letters, up to its first `Match`; no block in braces."""
    values: dict[str, str] = {}
    in_block = False
    for line in _lines_of(text):
        if style == "words" and (in_block or line.endswith("{")):
            in_block = line != "}"
            continue
        key, value = _pair(line, style)
        if style != "sshd":
            values[key] = value
        elif key == "match":
            break
        elif key == "allowusers" and "allowusers" in values:  # the only keyword that adds up here
            values["allowusers"] += f" {value}"
        else:
            values.setdefault(key, value)
    return values


def sshd_lines(text: str) -> list[tuple[str, str]]:
    """Return every line of `sshd_config` as keyword, in small letters, and value."""
    return [_pair(line, "sshd") for line in _lines_of(text)]


def settings_of_some(text: str, keyword: str) -> list[str]:
    """Return the values that `Match` blocks of `sshd_config` give a keyword, for those whom each block means."""
    blocks = dropwhile(lambda pair: pair[0] != "match", sshd_lines(text))
    return [value for key, value in blocks if key == keyword.lower()]


def sshd_settings_for(text: str, name: str, groups: frozenset[str]) -> dict[str, str]:
    """Return what `sshd_config` says for an account: what a `Match` block that means it says goes before the rest."""
    own: dict[str, str] = {}
    is_meant = False
    for key, value in sshd_lines(text):
        if key == "match":
            is_meant = _means(value, name, groups)
        elif is_meant:
            own.setdefault(key, value)
    return settings(text, "sshd") | own


def _means(criteria: str, name: str, groups: frozenset[str]) -> bool:
    """Whether the criteria of a `Match` mean an account; where it comes from is nothing that the files decide."""
    words = criteria.replace("=", " ").split()
    known = {"user": frozenset({name}), "group": groups}

    def holds(kind: str, listed: str) -> bool:
        names = known.get(kind.lower(), {"elsewhere"})
        return any(fnmatchcase(one, pattern) for one in names for pattern in listed.split(","))

    if len(words) % 2:
        return [word.lower() for word in words] == ["all"]
    return all(map(holds, words[::2], words[1::2]))


def _lines_of(text: str) -> list[str]:
    """Return the lines without comments; none of these programs goes on with a line after a backslash."""
    return [bare for line in text.split("\n") if (bare := line.strip()) and not bare.startswith(("#", ";"))]


def _pair(line: str, style: Style) -> tuple[str, str]:
    line = line.replace("\t", " ")
    if style == "sshd":  # `Keyword value`, `Keyword=value` and `Keyword = value` are the same
        match = re.match(r"([^ =]+) *=? *(.*)", line)
        key, value = match.groups() if match else (line, "")
        return key.lower(), value.partition(" #")[0].strip().replace('"', "")
    key, _, value = line.partition("=" if style == "equals" else " ")
    return key.strip(), value.strip().strip('"')


def accounts(files: Files) -> dict[str, Account]:
    """Return the accounts by name; the first line of a name counts."""
    shadow: dict[str, Sequence[str | None]] = {}
    for fields in _entries(files, "etc/shadow", 9, _are_days):
        shadow.setdefault(fields[0], fields)
    known: dict[str, Account] = {}
    for name, own, uid, gid, _, home, shell in _entries(files, "etc/passwd", 7, _are_ids):
        secret = shadow.get(name, [None] * 9)
        days = [int(field) if field else None for field in secret[2:8]]
        password = secret[1] if own else ""  # without an `x`, shadow is not asked
        known.setdefault(name, Account(name, int(uid), int(gid), home, shell, password, days[0], days[2], days[5]))
    return known


def _entries(files: Files, path: str, n: int, is_sound: Callable[[list[str]], bool]) -> Iterator[list[str]]:
    """Return the fields of each line, of which there must be `n` that are sound."""
    for line in filter(None, files.text(path).split("\n")):
        fields = line.split(":")
        if len(fields) != n or not is_sound(fields):
            raise Malformed(f"/{path}: the line of {fields[0][:32]!r} is malformed")
        yield fields


def _are_ids(fields: list[str]) -> bool:
    return fields[2].isdecimal() and fields[3].isdecimal()


def _are_days(fields: list[str]) -> bool:
    return all(not field or (field.isdecimal() and len(field) < 9) for field in fields[2:8])


def groups_of(files: Files, name: str) -> frozenset[str]:
    """The groups of an account, its own and those that name it; raises `UnreadableFile` if the file is missing."""
    lines = [line.split(":") for line in files.lines("etc/group")]
    accounts_named = [line.split(":") for line in files.lines("etc/passwd")]
    own = next((fields[3] for fields in accounts_named if len(fields) == 7 and fields[0] == name), None)
    entries = [fields for fields in lines if len(fields) == 4]
    return frozenset(group for group, _, gid, members in entries if name in members.split(",") or gid == own)


def sudoers(files: Files) -> Sudoers:
    """Return what `sudoers` says, with the files of folders that it includes."""
    rules, defaults = list[SudoRule](), list[tuple[str, str]]()
    aliases: dict[str, tuple[str, ...]] = {}
    for path, line in _sudo_lines(files, "etc/sudoers"):
        first, _, rest = line.partition(" ")
        if first.startswith("Defaults"):
            defaults += [(first.removeprefix("Defaults").lstrip(":"), option) for option in _options(rest, path)]
        elif first in _ALIASES:
            for one in rest.split(" : "):
                name, sign, members = one.partition("=")
                if not sign or not members.strip() or not re.fullmatch(r"(?!ALL$)[A-Z][A-Z0-9_]*", name.strip()):
                    raise Malformed(f"/{path}: syntax error in {line[:60]!r}")
                aliases[name.strip()] = _names(members)
        else:
            rules.append(_sudo_rule(line, path))
    return Sudoers(tuple(rules), tuple(defaults), aliases)


def _sudo_lines(files: Files, path: str, depth: int = 3, opened: list[str] | None = None) -> Iterator[tuple[str, str]]:
    opened = _one_more([] if opened is None else opened, path)
    text = files.text(path)
    if (files.mode(path) or 0) & 0o002:
        raise Malformed(f"/{path} is world writable")
    uncommented = "\n".join(_SUDO_COMMENT.sub("", line) for line in text.split("\n"))
    for line in uncommented.replace("\\\n", " ").split("\n"):
        bare = " ".join(line.split())
        word, _, named = bare.partition(" ")
        if word[1:] in ("includedir", "include") and word[:1] in "@#":
            if not depth:
                raise Malformed(f"/{path}: too many levels of includes")
            place = posixpath.join(f"/{posixpath.dirname(path)}", named.strip('"')).strip("/")
            inside = [] if word.endswith("include") else files.matching(f"{place}/*")
            read = [one for one in inside if "." not in (name := posixpath.basename(one)) and not name.endswith("~")]
            for inner in [place] if word.endswith("include") else read:
                yield from _sudo_lines(files, inner, depth - 1, opened)
        elif bare:
            yield path, bare


def _one_more(opened: list[str], path: str) -> list[str]:
    """Return the files that a configuration has called in, with one more; whoever calls in too many is refused."""
    opened.append(path)
    if len(opened) > _MOST_FILES:
        raise Malformed(f"/{path}: too many files are included")
    return opened


def _options(text: str, path: str) -> tuple[str, ...]:
    if not text or text.endswith(",") or text.count('"') % 2:
        raise Malformed(f"/{path}: syntax error in the Defaults {text[:60]!r}")
    options = tuple(one.strip().replace('"', "") for one in re.findall(r'(?:[^,"]|"[^"]*")+', text))
    if not all(re.fullmatch(r"!?[a-z0-9_]+(\s*[+-]?=.*)?", option) for option in options):
        raise Malformed(f"/{path}: syntax error in the Defaults {text[:60]!r}")
    return options


_MOST_FILES = 200
_ALIASES = ("User_Alias", "Cmnd_Alias", "Cmd_Alias", "Host_Alias", "Runas_Alias")
_TAGS = frozenset({"NOPASSWD", "PASSWD", "NOEXEC", "EXEC", "SETENV", "NOSETENV", "LOG_INPUT", "LOG_OUTPUT"})
_TAG = re.compile(r"(?<![A-Z_])([A-Z_]++) ?: ?")
_TAGGED = re.compile(rf"(?:{_TAG.pattern})*")
_SUDO_COMMENT = re.compile(r"(?<![\\%])#(?!\d)(?!(?<=\A#)include(dir)?\s).*")
"""A comment of sudoers goes to the end of its line, whatever is there; `#34` is the account with that number."""


def _sudo_rule(line: str, path: str) -> SudoRule:
    """Return a rule of `sudoers`; a tag holds for all commands that follow it."""
    left, sign, right = re.sub(r"\([^()]*\)", " ", line).partition("=")
    *users, _ = left.split() or [""]
    commands: list[str] = []
    free: set[str] = set()
    asks = True
    for one in right.split(","):
        tags = _TAGGED.match(one.strip())[0]  # type: ignore[index]  # it matches any text
        command = one.strip()[len(tags) :]
        named = _TAG.findall(tags)
        if not set(named) <= _TAGS or not command or not (sign and users) or re.search(r"(?<!\\)[:(]", command):
            raise Malformed(f"/{path}: syntax error in {line[:60]!r}")
        for tag in named:
            asks = {"NOPASSWD": False, "PASSWD": True}.get(tag, asks)
        commands.append(command)
        free |= set() if asks else {command}
    return SudoRule(_names(" ".join(users)), tuple(commands), frozenset(free))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def pam_stack(files: Files, service: str, kind: str, depth: int = 5, opened: list[str] | None = None) -> list[PamLine]:
    """Return the lines of one kind of a PAM service, includes followed."""
    opened = _one_more([] if opened is None else opened, f"etc/pam.d/{service}")
    stack: list[PamLine] = []
    for line in _pam_lines(files.text(f"etc/pam.d/{service}")):
        words = _pam_words(line)
        if words[0] == "@include" and len(words) == 2:
            included = words[1]
        elif len(words) < 3 or words[0].lstrip("-") not in ("auth", "account", "password", "session"):
            raise Malformed(f"/etc/pam.d/{service}: no PAM line: {line[:60]!r}")
        elif words[0].lstrip("-") != kind:
            continue
        elif words[1] in ("include", "substack"):
            included = words[2]
        else:
            stack.append(PamLine(kind, words[1], words[2], tuple(words[3:])))
            continue
        if not depth:
            raise Malformed(f"/etc/pam.d/{service}: it includes itself")
        stack += pam_stack(files, included, kind, depth - 1, opened)
    return stack


def _pam_lines(text: str) -> list[str]:
    """The lines of a PAM file: the text behind a `#` says nothing, a backslash at the end goes on with the next."""
    joined = "\n".join(line.partition("#")[0].rstrip() for line in text.split("\n"))
    return [line for line in joined.replace("\\\n", " ").split("\n") if line.strip()]


def _pam_words(line: str) -> list[str]:
    before, bracket, rest = line.partition("[")
    if not bracket:
        return line.split()
    inside, _, after = rest.partition("]")
    return [*before.split(), f"[{inside}]", *after.split()]


def sysctl(files: Files) -> dict[str, str]:
    """Return what the next start sets: `sysctl.d` in the order of its names, then `sysctl.conf`; the last counts."""
    merged: dict[str, str] = {}
    for path in (*files.matching("etc/sysctl.d/*.conf"), "etc/sysctl.conf"):
        with suppress(UnreadableFile):
            values = settings(files.text(path), "equals")
            merged |= {key.lstrip("-").replace("/", "."): value for key, value in values.items()}
    return merged


def table(files: Files, path: str) -> list[list[str]]:
    """Return the lines of a file, each as its words; raises `UnreadableFile`."""
    return [line.split() for line in files.lines(path)]
