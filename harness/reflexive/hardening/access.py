"""The way in to the target as its files decide it: a login by ssh with a key, then sudo without asking.

It is a model: nothing is run, and services read their configuration anew before each login.
"""

import posixpath

from msgspec import Struct

from misstep.harness.reflexive.hardening.files import Files, UnreadableFile, or_why
from misstep.harness.reflexive.hardening.pam import expired, refused_by_pam
from misstep.harness.reflexive.hardening.parsing import (
    Account,
    accounts,
    groups_of,
    settings,
    sshd_lines,
    sshd_settings_for,
    sudoers,
)
from misstep.harness.reflexive.hardening.profile import known_to_programs

AGENT = "agent"
"""The account that the worker acts by; it has a key and no password."""

SHELL = "/bin/sh"

AUDIT = "/usr/local/sbin/audit"
"""What sudo is probed with: even an account that may do little else may run it."""

SSH_PORT = "22"
_REFUSED = "ssh: connect to host target port 22: Connection refused"
_DENIED = f"{AGENT}@target: Permission denied (publickey)."


class Refusal(Struct, frozen=True):
    """What who wants in is told, and what the target writes about it into its own log."""

    text: str
    log: str


def refused(files: Files, command: str) -> Refusal | None:
    """Return why the agent cannot run a command as root, in the order in which a real target would say it."""
    return refused_login(files) or refused_sudo(files, AGENT, command)


def refused_login(files: Files) -> Refusal | None:
    """Return why a login of the agent by its key fails; `None` where it succeeds."""
    if dropped(files, SSH_PORT):
        return Refusal("ssh: connect to host target port 22: Connection timed out", "kernel: dropped tcp dport 22")
    if fault := server_fault(files):
        return Refusal(_REFUSED, f"sshd: fatal: {fault}")
    options = settings(files.text("etc/ssh/sshd_config"), "sshd")
    if options.get("port", SSH_PORT) != SSH_PORT:
        return Refusal(_REFUSED, f"sshd: listening on port {options['port']}")
    try:
        account, groups = accounts(files).get(AGENT), groups_of(files, AGENT)
        options = sshd_settings_for(files.text("etc/ssh/sshd_config"), AGENT, groups)
    except UnreadableFile as error:
        return Refusal(_DENIED, f"sshd: user database: {error.found}")
    if account is None:
        return Refusal(_DENIED, f"sshd: Invalid user {AGENT}")
    if why := _not_let_in(options, groups) or _key_fault(files, options, account):
        return Refusal(_DENIED, f"sshd: {why}")
    if options.get("usepam", "no").lower() == "yes":
        for kind in ("account", "session"):
            if why := refused_by_pam(files, "sshd", kind, account):
                return Refusal(f"Connection closed by target port 22\n{why}", f"sshd: {why}")
    elif why := expired(account):
        return Refusal(why, f"sshd: {why}")
    if why := shell_fault(files, account):
        return Refusal(f"{account.shell}: {why}", f"sshd: User {AGENT} not allowed: shell {account.shell}: {why}")
    return None


@or_why
def server_fault(files: Files) -> str:
    """Return why the ssh server does not start; empty where it does."""
    if "sshd" not in files.lines("etc/services.enabled"):
        return "the service is not enabled"
    options = settings(files.text("etc/ssh/sshd_config"), "sshd")
    files.text("etc/ssh/ssh_host_ed25519_key")
    known = known_to_programs()
    for keyword, value in sshd_lines(files.text("etc/ssh/sshd_config")):
        if keyword not in known.sshd_keywords or not value:
            return f"/etc/ssh/sshd_config: Bad configuration option: {keyword}"
        if keyword in known.sshd_switches and value.lower() not in ("yes", "no"):
            return f"/etc/ssh/sshd_config: unsupported option {value!r} for {keyword}"
    if not set(options.get("ciphers", "aes256-ctr").split(",")) <= known.sshd_ciphers:
        return f"/etc/ssh/sshd_config: Bad SSH2 cipher spec {options['ciphers']!r}"
    too_open = (files.mode("etc/ssh/ssh_host_ed25519_key") or 0) & 0o022
    return "no hostkeys available: permissions are too open" if too_open else ""


def _not_let_in(options: dict[str, str], groups: frozenset[str]) -> str:
    if AGENT in options.get("denyusers", "").split() or groups & set(options.get("denygroups", "").split()):
        return f"User {AGENT} not allowed because listed in DenyUsers or DenyGroups"
    if "allowusers" in options and not {AGENT, "*"} & set(options["allowusers"].split()):
        return f"User {AGENT} not allowed because not listed in AllowUsers"
    if "allowgroups" in options and not groups & set(options["allowgroups"].split()):
        return f"User {AGENT} not allowed because none of its groups is listed in AllowGroups"
    if options.get("pubkeyauthentication", "yes").lower() != "yes":
        return "public keys are switched off"
    if "publickey" not in options.get("authenticationmethods", "publickey").split():
        return "a key alone is not enough by AuthenticationMethods"
    if options.get("maxauthtries", "6") == "0":
        return f"maximum authentication attempts exceeded for {AGENT}"
    return ""


def _key_fault(files: Files, options: dict[str, str], account: Account) -> str:
    home = account.home.strip("/")
    name = options.get("authorizedkeysfile", ".ssh/authorized_keys").split()[0]
    path = posixpath.normpath(name.replace("%u", AGENT).strip("/") if name.startswith("/") else f"{home}/{name}")
    try:
        lines = files.lines(path)
    except UnreadableFile as error:
        return f"Could not open authorized keys: {error.found}"
    if not any(line.split()[-1] == "agent@harness" for line in lines):
        return "no authorized key matches"
    for place in (home, posixpath.dirname(path), path):
        mode = files.mode(place)
        if mode is None or (options.get("strictmodes", "yes").lower() == "yes" and mode & 0o022):
            return f"Authentication refused: bad ownership or modes for /{place}"
        if place != path and not mode & 0o100:
            return f"Could not open authorized keys: /{place}: Permission denied"
    return ""


@or_why
def shell_fault(files: Files, account: Account) -> str:
    """Return why an account's shell cannot be started; empty where it can."""
    if account.shell not in files.lines("etc/shells") or account.shell.endswith(("nologin", "false")):
        return "This account is currently not available."
    shell = files.at(account.shell.strip("/"))
    if shell is None or shell.kind != "file":
        return "No such file or directory"
    return "" if shell.mode & 0o001 else "Permission denied"


def refused_sudo(files: Files, name: str, command: str) -> Refusal | None:
    """Return why sudo does not run a command for an account without asking for a password; `None` where it does."""
    program = files.at("usr/bin/sudo")
    if program is None or program.kind != "file" or not program.mode & 0o001:
        return Refusal("bash: sudo: command not found", "sudo: not found")
    if not program.mode & 0o4000:
        text = "sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set"
        return Refusal(text, text)
    try:
        policy, groups, account = sudoers(files), groups_of(files, name), accounts(files)[name]
    except UnreadableFile as error:
        return Refusal(f"sudo: {error.found}\nsudo: error initializing audit plugin sudoers_audit", error.found)
    except KeyError:
        return Refusal("sudo: you do not exist in the passwd database", f"sudo: no account {name}")
    matching = policy.rules_of(account, groups)
    allowed, asks = False, True
    for rule in matching:
        for listed in rule.commands:
            if policy.meant([listed.lstrip("!")]) & {"ALL", command}:
                allowed, asks = not listed.startswith("!"), listed not in rule.free
    own = [option for scope, option in policy.defaults if scope in ("", name)]
    if not matching:
        text = f"{name} is not in the sudoers file."
    elif not allowed:
        text = f"Sorry, user {name} is not allowed to execute '{command}' as root on target."
    elif "requiretty" in own:
        text = "sudo: sorry, you must have a tty to run sudo"
    elif asks and "!authenticate" not in own:
        text = "sudo: a password is required"
    elif why := refused_by_pam(files, "sudo", "account", account):
        text = f"sudo: PAM account management error: {why}"
    else:
        return None
    return Refusal(text, f"sudo: {name} : {text.removeprefix('sudo: ')} ; COMMAND={command}")


def dropped(files: Files, port: str) -> bool:
    """Return whether the packet filter drops what comes in for a port: by the first line on it, else the policy."""
    try:
        lines = [line.lower().split() for line in files.lines("etc/firewall.rules")]
    except UnreadableFile:
        return False
    policy = "accept"
    for words in lines:
        if words[:2] == ["policy", "input"] and len(words) == 3:
            policy = words[2]
        elif words[:2] == ["input", f"dport={port}"] and len(words) == 3:
            return words[2] != "accept"
    return policy != "accept"
