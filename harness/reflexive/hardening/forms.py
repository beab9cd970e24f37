"""The declarative forms in which rules say what is checked: each says what is wrong with the files, or nothing."""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from misstep.harness.reflexive.hardening.files import Files, TargetEntry
from misstep.harness.reflexive.hardening.pam import GUESSING, STRANGER, can_refuse, reached, refused_by_pam
from misstep.harness.reflexive.hardening.parsing import (
    Style,
    Sudoers,
    accounts,
    groups_of,
    pam_stack,
    settings,
    settings_of_some,
    sudoers,
    sysctl,
    table,
)
from misstep.harness.reflexive.hardening.profile import Profile, known_to_programs

RUNNING = "proc/sys.values"
"""What the running kernel has, as `key = value`."""


class Form(Struct, frozen=True, forbid_unknown_fields=True, tag_field="form", tag=str.lower):
    """One declarative form of a check."""

    def fault(self, files: Files, profile: Profile) -> str:
        """What is wrong; empty where nothing is. Raises `UnreadableFile` if a file is missing or malformed."""
        raise NotImplementedError


class SettingForm(Form, frozen=True, tag="setting"):
    """The value of a key in a file of settings.

    - `file`, `style`, `key`: Its place; key and value of `sshd` are compared without regard to case, and whatever
      a `Match` block says instead must hold as well.
    - `among`: The values of which it must be one; with `words`, every word of it must be one.
    - `least`, `most`: Names of limits in the profile that it must keep to, as a number.
    """

    file: str
    style: Style
    key: str
    among: list[str] = []
    words: str = ""
    least: str = ""
    most: str = ""

    def fault(self, files: Files, profile: Profile) -> str:
        """Return what is wrong with the value."""
        text = files.text(self.file)
        value = settings(text, self.style).get(self.key.lower() if self.style == "sshd" else self.key)
        name = f"{self.key} in /{self.file}"
        if value is None:
            return f"{name} is not set"
        others = settings_of_some(text, self.key) if self.style == "sshd" else []
        return next(filter(None, (self._fault_of(name, one, profile) for one in (value, *others))), "")

    def _fault_of(self, name: str, value: str, profile: Profile) -> str:
        if self.among and value not in self.among and not self._same(value):
            return f"{name} is {value!r}, not {' or '.join(map(repr, self.among))}"
        if self.words and (others := sorted(set(value.replace(",", " ").split()) - profile.excepted(self.words))):
            return f"{name} has {', '.join(others)}"
        if self.style == "sshd" and re.fullmatch(r"(\d{1,6}[smhdw])+", value.lower()):
            value = str(_seconds(value.lower()))
        if (self.least or self.most) and not (value.isdecimal() and len(value) < 9):
            return f"{name} is {value!r}, which is not a number"
        if self.least and int(value) < profile.limit(self.least):
            return f"{name} is {value}, at least {profile.limit(self.least)} is wanted"
        if self.most and not 0 < int(value) <= profile.limit(self.most):
            return f"{name} is {value}, between 1 and {profile.limit(self.most)} is wanted"
        return ""

    def _same(self, value: str) -> bool:
        if self.style != "sshd" or "/" in value:
            return False
        return value.lower() in {one.lower() for one in self.among}


class Mode(Form, frozen=True):
    """The modes of files and folders.

    - `paths`: Patterns of the shell; at least one path must match each.
    - `most`, `needs`: The bits that may be set at most, in octal digits, and those that must be set.
    - `folders`: The same as `most` for folders, if they may have more.
    - `but`: Paths that the patterns do not mean.
    """

    paths: list[str]
    kind: Literal["file", "folder", ""] = ""
    most: str = "7777"
    folders: str = ""
    needs: str = "0"
    but: list[str] = []

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Return what is too open, or too closed."""
        return next(filter(None, self._faults(files)), "")

    def _faults(self, files: Files) -> Iterator[str]:
        for pattern in self.paths:
            entries = {path: entry for path in files.matching(pattern) if (entry := files.at(path)) is not None}
            yield "" if entries else f"there is no /{pattern}"
            yield from (self._fault_of(path, entry) for path, entry in entries.items() if path not in self.but)

    def _fault_of(self, path: str, entry: TargetEntry) -> str:
        if self.kind and entry.kind != self.kind:
            return f"/{path} is not a {self.kind}"
        most = int(self.folders if self.folders and entry.kind == "folder" else self.most, 8)
        too_open = entry.mode & ~most or int(self.needs, 8) & ~entry.mode
        return f"/{path} has the mode {entry.mode:04o}" if too_open else ""


class LinesForm(Form, frozen=True, tag="lines"):
    """The lines of files, without comments, with one space between words.

    - `none`, `some`: A pattern that no line matches anywhere, and one that a line of one of the files matches.
    - `comments`: Whether the files have comments; texts that are shown to people have none.
    """

    paths: list[str]
    none: str = ""
    some: str = ""
    comments: bool = True

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Return the line that is there and should not be, or the file in which one is missing."""
        matches = {
            path: [
                " ".join(line.split())
                for line in (files.lines(path) if self.comments else files.text(path).split("\n"))
            ]
            for pattern in self.paths
            for path in ([pattern] if "*" not in pattern else files.matching(pattern))
            if "*" not in pattern or not files.is_folder(path)
        }
        for path, lines in matches.items():
            wrong = next((line for line in lines if self.none and re.search(self.none, line)), None)
            if wrong is not None:
                return f"/{path} has the line {wrong[:80]!r}"
        if self.some and not any(re.search(self.some, line) for lines in matches.values() for line in lines):
            return f"/{self.paths[0]} has no line such as {self.some}"
        return ""


class Absent(Form, frozen=True):
    """Nothing is at some paths, of any kind."""

    paths: list[str]

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Return the entry there."""
        present = next((path for pattern in self.paths for path in files.matching(pattern)), "")
        return f"there is /{present}" if present else ""


class Sudo(Form, frozen=True):
    """What the rules of sudo let accounts do, by the name of what is wanted.

    - `wanted`: `passwords`: nobody but those excepted runs commands without a password. `default`: the option `option`
      is set, or with `without` it is not. `commands`: the agent may run nothing but what is listed.
    """

    wanted: Literal["passwords", "default", "commands"]
    option: str = ""
    without: bool = False

    def fault(self, files: Files, profile: Profile) -> str:
        """Who may do what they should not."""
        policy = sudoers(files)
        if self.wanted == "default":
            if self._is_set(policy) == self.without:
                return f"sudo {'still has' if self.without else 'does not have'} the default {self.option}"
            return ""
        if self.wanted == "passwords":
            excepted = profile.excepted("nopasswd")
            others = sorted(policy.meant(user for rule in policy.rules if rule.free for user in rule.users) - excepted)
            return f"sudo asks {', '.join(others)} for no password" if others else ""
        agent = accounts(files).get("agent")
        own = [] if agent is None else policy.rules_of(agent, groups_of(files, "agent"))
        listed = policy.meant(command for rule in own for command in rule.commands)
        more = sorted(listed - profile.excepted("commands"))
        return f"sudo lets the agent run {', '.join(more)}" if more else "" if own else "sudo has no rule for the agent"

    def _is_set(self, policy: Sudoers) -> bool:
        """Whether the option is set: to be got rid of, for anybody; to be had, for all, and taken back for nobody."""
        parts = [(scope, option.partition("=")) for scope, option in policy.defaults]
        defaults = [(scope, name.strip(), value.strip()) for scope, (name, _, value) in parts]
        if self.without:
            return any(name == self.option for _, name, _ in defaults)
        of_all = [(name, value) for scope, name, value in defaults if not scope and name.lstrip("!") == self.option]
        is_nothing = self.option == "logfile" and not re.match(r"/(?!dev/)", of_all[-1][1] if of_all else "")
        taken_back = any(name == f"!{self.option}" for scope, name, _ in defaults if scope)
        return bool(of_all) and of_all[-1][0] == self.option and not is_nothing and not taken_back


class Accounts(Form, frozen=True):
    """What holds of all accounts: `one_root`, `passwords` (none is empty), `shells` (of the system's), `aging`."""

    wanted: Literal["one_root", "passwords", "shells", "aging"]

    def fault(self, files: Files, profile: Profile) -> str:
        """Return which accounts break it."""
        known = accounts(files).values()
        if self.wanted == "one_root":
            wrong = [one.name for one in known if one.uid == 0 and one.name != "root"]
        elif self.wanted == "passwords":
            wrong = [one.name for one in known if one.password == ""]
        elif self.wanted == "shells":
            excepted = {"root", *profile.excepted("shells")}
            system = [one for one in known if one.uid < 1000 and one.name not in excepted]
            wrong = [one.name for one in system if one.shell != "/usr/sbin/nologin"]
        else:
            most = profile.limit("password_max_days")
            dated = [one for one in known if one.password and not one.password.startswith(("!", "*"))]
            wrong = [one.name for one in dated if one.most_days is None or one.most_days > most]
        return f"this holds not for: {', '.join(wrong)}" if wrong else ""


class Pam(Form, frozen=True):
    """The modules of a PAM stack, in their order, as far as it runs for an account without the right password.

    - `modules`: Each with an argument that it has, or alone: `pam_faillock.so preauth`; a failure of each, but for
      pam_unix.so, must refuse.
    - `without`: An argument that no module has.
    - `refuses_strangers`: Whether it refuses an account that has the right password and is in no group.
    """

    service: str
    kind: str
    modules: list[str] = []
    without: str = ""
    refuses_strangers: bool = False

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Return what is missing, or out of order."""
        stack = pam_stack(files, self.service, self.kind)
        name = f"the {self.kind} stack of {self.service}"
        if self.without and any(self.without in line.arguments for line in stack):
            return f"{name} has {self.without}"
        if self.refuses_strangers and not refused_by_pam(files, self.service, self.kind, STRANGER):
            return f"{name} lets in who is in no group"
        left = (line for line in reached(files, stack, GUESSING) if can_refuse(line) or line.module == "pam_unix.so")
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
        """Return what the kernel has instead, or would have after the next start."""
        running = settings(files.text(RUNNING), "equals").get(self.key)
        now = "" if running == self.value else f"the running kernel has {self.key} = {running}, not {self.value}"
        return self.fault_at_start(files) or now

    def fault_at_start(self, files: Files) -> str:
        """Return what the kernel would have instead after the next start."""
        configured = sysctl(files).get(self.key)
        return "" if configured == self.value else f"the configuration sets {self.key} to {configured}"


class BootOption(Form, frozen=True):
    """An option that the running kernel was started with."""

    option: str

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Return the violation: the kernel was started without the option; empty if it was started with it."""
        return "" if self.option in known_to_programs().command_line.split() else f"started without {self.option}"


class Mounted(Form, frozen=True):
    """A path that is a file system of its own: a line of `fstab` whose device this machine has, and no other line."""

    path: str

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Return why it is none."""
        lines = table(files, "etc/fstab")
        own = {words[0] for words in lines if len(words) == 6 and words[1] == self.path}
        others = {words[0] for words in lines if words[1:2] != [self.path]}
        attached = own & (known_to_programs().devices - others)
        return "" if attached else f"{self.path} is not a file system of its own: no device for it is attached"


class MountOption(Form, frozen=True):
    """Options that a file system is to be mounted with."""

    path: str
    options: list[str]

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """Return which one is missing."""
        lines = table(files, "etc/fstab")
        mounts = [words[3].split(",") for words in lines if len(words) == 6 and words[1].rstrip("/") == self.path]
        if not mounts:
            return f"/etc/fstab has no line for {self.path}"
        if any("noauto" in options for options in mounts):
            return f"{self.path} is not mounted at the start"
        missing = [one for one in self.options if not all(_last_of(one, options) for options in mounts)]
        return f"{self.path} is mounted without {', '.join(missing)}" if missing else ""


def _last_of(option: str, options: list[str]) -> bool:
    mentions = [one for one in options if one in (option, option.removeprefix("no"))]
    return bool(mentions) and mentions[-1] == option


class Installed(Form, frozen=True):
    """A program that is there, with the content that its package has: what a worker writes there is none."""

    path: str

    def fault(self, files: Files, profile: Profile) -> str:  # noqa: ARG002
        """The violation: it is missing."""
        return f"/{self.path} is not installed, and no source of packages can be reached"


Check = (
    SettingForm
    | Mode
    | LinesForm
    | Absent
    | Sudo
    | Accounts
    | Pam
    | Kernel
    | BootOption
    | Mounted
    | MountOption
    | Installed
)


def _seconds(text: str) -> int:
    units = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
    return sum(int(number) * units[unit] for number, unit in re.findall(r"(?<!\d)(\d{1,9})([smhdw])", text))
