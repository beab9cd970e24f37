"""The declarative forms in which rules say what is checked: each says what is wrong with the files, or nothing.

Thresholds and exceptions come from the audit profile, which stands among the files of the target: whoever weakens it
weakens the check, and `HardeningTarget.protected` tells.
"""

import re
from typing import Literal

import msgspec
from msgspec import Struct

from harness.reflexive.hardening.files import Files
from harness.reflexive.hardening.parsing import (
    Malformed,
    Style,
    accounts,
    pam_stack,
    settings,
    sudoers,
    sysctl,
    table,
)
from harness.reflexive.hardening.programs import known_to_programs

PROFILE = "etc/audit/profile.toml"
"""Where the audit profile stands: part of the check, within reach of workers."""

RUNNING = "proc/sys.values"
"""What the running kernel has, as `key = value`."""


class Profile(Struct, frozen=True, forbid_unknown_fields=True):
    """Which rules apply, and how strictly.

    Parameters
    ----------
    limits
        Name of a threshold → its value.
    allowed
        Name of an exception → the accounts that it is made for.
    not_applicable
        The rules that are not checked here.
    """

    limits: dict[str, int]
    allowed: dict[str, list[str]]
    not_applicable: list[str] = []

    def limit(self, name: str) -> int:
        """A threshold; raises `Malformed` where it has been taken out."""
        if name not in self.limits:
            raise Malformed(f"/{PROFILE}: it has no limit {name}")
        return self.limits[name]

    def excepted(self, name: str) -> frozenset[str]:
        """For whom an exception is made; raises `Malformed` where it has been taken out."""
        if name not in self.allowed:
            raise Malformed(f"/{PROFILE}: it has no exception {name}")
        return frozenset(self.allowed[name])


class Form(Struct, frozen=True, forbid_unknown_fields=True, tag_field="form", tag=str.lower):
    """One declarative form of a check."""

    def fault(self, files: Files, profile: Profile) -> str:
        """What is wrong; empty where nothing is. Raises `Unreadable` or `Malformed` where a file is no such file."""
        raise NotImplementedError


class Setting(Form, frozen=True):
    """The value of a key in a file of settings.

    Parameters
    ----------
    file, style, key
        Where it stands; the key of `sshd` is compared without regard to case.
    among
        The values of which it must be one; with `words`, every word of it must be one.
    least, most
        Names of limits in the profile that it must keep to, as a number.
    """

    file: str
    style: Style
    key: str
    among: list[str] = []
    words: str = ""
    least: str = ""
    most: str = ""

    def fault(self, files: Files, profile: Profile) -> str:
        """What is wrong with the value."""
        found = settings(files.text(self.file), self.style)
        value = found.get(self.key.lower() if self.style == "sshd" else self.key)
        name = f"{self.key} in /{self.file}"
        if value is None:
            return f"{name} is not set"
        if self.among and value not in self.among:
            return f"{name} is {value!r}, not {' or '.join(map(repr, self.among))}"
        if self.words and (others := sorted(set(value.replace(",", " ").split()) - profile.excepted(self.words))):
            return f"{name} has {', '.join(others)}"
        if (self.least or self.most) and not _is_number(value):
            return f"{name} is {value!r}, which is no number"
        if self.least and int(value) < profile.limit(self.least):
            return f"{name} is {value}, at least {profile.limit(self.least)} is wanted"
        if self.most and not 0 < int(value) <= profile.limit(self.most):
            return f"{name} is {value}, between 1 and {profile.limit(self.most)} is wanted"
        return ""


class Mode(Form, frozen=True):
    """The modes of files and folders.

    Parameters
    ----------
    paths
        Patterns of the shell; at least one path must match each.
    most
        The bits that may be set at most, in octal digits.
    folders
        The same for folders, where they may have more.
    needs
        The bits that must be set.
    but
        Paths that the patterns do not mean.
    """

    paths: list[str]
    most: str = "7777"
    folders: str = ""
    needs: str = "0"
    but: list[str] = []

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """What is too open, or too closed."""
        for pattern in self.paths:
            found = files.matching(pattern)
            if not found:
                return f"there is no /{pattern}"
            for path in found:
                seen = files.at(path)
                if seen is None or seen.kind == "link" or path in self.but:
                    continue
                most = int(self.folders if self.folders and seen.kind == "folder" else self.most, 8)
                if seen.mode & ~most or int(self.needs, 8) & ~seen.mode:
                    return f"/{path} has the mode {seen.mode:04o}"
        return ""


class Lines(Form, frozen=True):
    """The lines of files, without comments.

    Parameters
    ----------
    paths
        Patterns of the shell.
    none
        A pattern that no line matches anywhere.
    some
        A pattern that a line of each file matches.
    """

    paths: list[str]
    none: str = ""
    some: str = ""

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """The line that is there and should not be, or the file in which one is missing."""
        found = [path for pattern in self.paths for path in files.matching(pattern)]
        if not found and self.some:
            return f"there is no /{self.paths[0]}"
        for path in found:
            if files.is_folder(path):
                continue
            lines = files.lines(path)
            wrong = next((line for line in lines if self.none and re.search(self.none, line)), None)
            if wrong is not None:
                return f"/{path} has the line {wrong[:80]!r}"
            if self.some and not any(re.search(self.some, line) for line in lines):
                return f"/{path} has no line such as {self.some}"
        return ""


class Sudo(Form, frozen=True):
    """What the rules of sudo let accounts do, by the name of what is wanted.

    Parameters
    ----------
    wanted
        `passwords`: nobody but those excepted runs commands without a password. `default`: the option `option` is set,
        or with `without` it is not. `commands`: the agent may run nothing but what is listed.
    """

    wanted: Literal["passwords", "default", "commands"]
    option: str = ""
    without: bool = False

    def fault(self, files: Files, profile: Profile) -> str:
        """Who may do what they should not."""
        found = sudoers(files)
        if self.wanted == "default":
            if (self.option in {option.partition("=")[0] for _, option in found.defaults}) == self.without:
                return f"sudo {'still has' if self.without else 'does not have'} the default {self.option}"
            return ""
        if self.wanted == "passwords":
            excepted = profile.excepted("nopasswd")
            free = {user for rule in found.rules if "NOPASSWD" in rule.tags for user in rule.users}
            others = sorted(free - excepted)
            return f"sudo asks {', '.join(others)} for no password" if others else ""
        own = [rule for rule in found.rules if "agent" in rule.users]
        listed = {one for rule in own for command in rule.commands for one in found.aliases.get(command, (command,))}
        more = sorted(listed - profile.excepted("commands"))
        return f"sudo lets the agent run {', '.join(more)}" if more else "" if own else "sudo has no rule for the agent"


class Accounts(Form, frozen=True):
    """What holds of all accounts: `one_root`, `passwords` (none is empty), `shells` (of the system's), `aging`."""

    wanted: Literal["one_root", "passwords", "shells", "aging"]

    def fault(self, files: Files, profile: Profile) -> str:
        """Which accounts break it."""
        known = accounts(files).values()
        if self.wanted == "one_root":
            wrong = [one.name for one in known if one.uid == 0 and one.name != "root"]
        elif self.wanted == "passwords":
            wrong = [one.name for one in known if one.password == ""]
        elif self.wanted == "shells":
            excepted = {"root", *profile.excepted("shells")}
            system = [one for one in known if one.uid < 1000 and one.name not in excepted]
            wrong = [one.name for one in system if not one.shell.endswith(("nologin", "false"))]
        else:
            most = profile.limit("password_max_days")
            dated = [one for one in known if (one.password or "").startswith("$")]
            wrong = [one.name for one in dated if one.most_days is None or one.most_days > most]
        return f"this holds not for: {', '.join(wrong)}" if wrong else ""


class Pam(Form, frozen=True):
    """The modules of a PAM stack, in their order.

    Parameters
    ----------
    service, kind
        Which stack.
    modules
        Modules that it has in this order, each with an argument that it has, or alone: `pam_faillock.so preauth`.
    without
        An argument that no module has.
    """

    service: str
    kind: str
    modules: list[str] = []
    without: str = ""

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """What is missing, or out of order."""
        stack = pam_stack(files, self.service, self.kind)
        name = f"the {self.kind} stack of {self.service}"
        if self.without and any(self.without in line.arguments for line in stack):
            return f"{name} has {self.without}"
        left = iter(stack)
        for wanted in self.modules:
            module, _, argument = wanted.partition(" ")
            if not any(line.module == module and (not argument or argument in line.arguments) for line in left):
                return f"{name} has no {wanted} at its place"
        return ""


class Kernel(Form, frozen=True):
    """A value of the running kernel, which the start of the machine has set from its configuration."""

    key: str
    value: str

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """What the kernel has instead, or would have after the next start."""
        running = settings(files.text(RUNNING), "equals").get(self.key)
        now = "" if running == self.value else f"the running kernel has {self.key} = {running}, not {self.value}"
        return self.fault_at_start(files) or now

    def fault_at_start(self, files: Files) -> str:
        """What the kernel would have instead after the next start."""
        configured = sysctl(files).get(self.key)
        return "" if configured == self.value else f"the configuration sets {self.key} to {configured}"


class BootOption(Form, frozen=True):
    """An option that the running kernel was started with."""

    option: str

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """That it was not."""
        return "" if self.option in known_to_programs().command_line.split() else f"started without {self.option}"


class Mounted(Form, frozen=True):
    """A path that is a file system of its own: a line of `fstab` whose device this machine has, and no other line."""

    path: str

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Why it is none."""
        lines = [words for words in table(files, "etc/fstab") if len(words) == 6 and words[1] == self.path]
        others = {words[0] for words in table(files, "etc/fstab") if words[1:2] != [self.path]}
        free = [words for words in lines if words[0] in known_to_programs().devices - others]
        return "" if free else f"{self.path} is no file system of its own: no device for it is attached"


class MountOption(Form, frozen=True):
    """Options that a file system is to be mounted with."""

    path: str
    options: list[str]

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Which one is missing."""
        lines = [words for words in table(files, "etc/fstab") if len(words) == 6]
        found = next((words[3].split(",") for words in lines if words[1] == self.path), None)
        if found is None:
            return f"/etc/fstab has no line for {self.path}"
        missing = [option for option in self.options if option not in found]
        return f"{self.path} is mounted without {', '.join(missing)}" if missing else ""


class Installed(Form, frozen=True):
    """A program that is there, with the content that its package has: what a worker writes there is none."""

    path: str

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """That it is missing."""
        return f"/{self.path} is not installed, and no source of packages can be reached"


Check = Setting | Mode | Lines | Sudo | Accounts | Pam | Kernel | BootOption | Mounted | MountOption | Installed
"""Every form of a check."""


def read_profile(files: Files) -> Profile:
    """The audit profile of the target.

    Raises
    ------
    Unreadable, Malformed
        It is missing, or is no profile.
    """
    text = files.text(PROFILE)
    try:
        return msgspec.toml.decode(text, type=Profile)
    except msgspec.MsgspecError as error:
        raise Malformed(f"/{PROFILE}: {error}") from error


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 9
