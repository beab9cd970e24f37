"""What a PAM stack answers for an account: each module's outcome in order, weighed by its control (pam.conf(5))."""

from collections.abc import Iterator, Mapping

from misstep.harness.reflexive.hardening.files import Files, UnreadableFile, or_why
from misstep.harness.reflexive.hardening.parsing import Account, PamLine, groups_of, pam_stack
from misstep.harness.reflexive.hardening.profile import known_to_programs

TODAY = 20_000
"""The target's own date, in days as `shadow` counts them: the model has no other clock."""

_CONTROLS: Mapping[str, Mapping[str, str]] = {
    "required": {"success": "ok", "ignore": "ignore", "default": "bad"},
    "requisite": {"success": "ok", "ignore": "ignore", "default": "die"},
    "sufficient": {"success": "done", "default": "ignore"},
    "optional": {"success": "ok", "default": "ignore"},
}


STRANGER = Account("stranger", 2000, 2000, "/", "/bin/sh", "$y$secret")
"""An account with the right password and without a group."""

GUESSING = Account("stranger", 2000, 2000, "/", "/bin/sh", "!")
"""An account without the right password."""


def refused_by_pam(files: Files, service: str, kind: str, account: Account) -> str:
    """Why a service's stack of a kind refuses an account that has the right password; empty where it lets it in."""
    try:
        stack = pam_stack(files, service, kind)
    except UnreadableFile as error:
        return f"PAM cannot read the stack of {service}: {error.found}"
    if not stack:
        return f"PAM has no {kind} stack for {service}"
    decided, why = "", ""
    for _, action, text in carried_out(files, stack, account):
        if action in ("ok", "done"):
            decided = decided or "ok"
            if action == "done" and decided == "ok":
                return ""
        elif action in ("bad", "die"):
            decided, why = "bad", why or text
            if action == "die":
                return why
    return "" if decided == "ok" else why or f"no module of the {kind} stack of {service} has decided"


def carried_out(files: Files, stack: list[PamLine], account: Account) -> Iterator[tuple[PamLine, str, str]]:
    """Return the lines of a stack that are not jumped over, each with what it comes to and what its module says."""
    skip = 0
    for line in stack:
        if skip:
            skip -= 1
            continue
        outcome, text = _outcome(files, line, account)
        action = _action(line.control, outcome)
        if action.isdecimal():
            skip = int(action)
        yield line, action, text


def reached(files: Files, stack: list[PamLine], account: Account) -> Iterator[PamLine]:
    """Return the lines that are carried out until one ends the stack."""
    has_failed = False
    for line, action, _ in carried_out(files, stack, account):
        yield line
        has_failed = has_failed or action == "bad"
        if action == "die" or (action == "done" and not has_failed):
            return


def can_refuse(line: PamLine) -> bool:
    """Return whether a failure of its module refuses whoever wants in."""
    return _action(line.control, "failure") in ("bad", "die")


def _action(control: str, outcome: str) -> str:
    if not control.startswith("["):
        table = _CONTROLS.get(control, _CONTROLS["required"])
    else:
        pairs = [pair.partition("=") for pair in control.strip("[]").split()]
        table = {key: action for key, _, action in pairs}
    return table.get(outcome, table.get("default", "bad"))


def _outcome(files: Files, line: PamLine, account: Account) -> tuple[str, str]:
    """Return what a module returns (`success`, `ignore`, or a failure), and what it says where it fails."""
    where = f"{line.module} ({line.kind})"
    match line.module:
        case "pam_unix.so":
            why = _unix(line, account)
        case "pam_faillock.so":
            why = "the account is locked due to failed logins" if "authfail" in line.arguments else ""
        case "pam_rootok.so":
            why = "" if account.uid == 0 else f"{account.name} is not root"
        case "pam_wheel.so":
            why = _wheel(files, account.name)
        case "pam_nologin.so":
            why = "System is going down" if files.at("etc/nologin") or files.at("run/nologin") else ""
        case "pam_access.so":
            why = _by_access_table(files, account.name)
        case module if module in known_to_programs().pam_modules:
            why = ""
        case _:
            why = "" if line.module != "pam_deny.so" and line.kind == "session" else "denied"
    if why:
        return "failure", f"{where}: {why}"
    return ("ignore" if "preauth" in line.arguments else "success"), ""


@or_why
def _wheel(files: Files, name: str) -> str:
    return "" if "wheel" in groups_of(files, name) else f"{name} is not in the group wheel"


def _unix(line: PamLine, account: Account) -> str:
    if line.kind == "account":
        return expired(account)
    if line.kind == "auth":
        if account.password is None or account.password.startswith(("!", "*")):
            return f"{account.name} has no password"
        if not account.password and "nullok" not in line.arguments:
            return f"the empty password of {account.name} is not allowed"
    return ""


def expired(account: Account) -> str:
    """Return why an account is out of date; empty where it is not."""
    if account.password is None:
        return f"{account.name} has no line in /etc/shadow"
    if account.expires is not None and account.expires <= TODAY:
        return f"Your account has expired; please contact your system administrator ({account.name})"
    if account.changed is not None and account.most_days is not None and account.changed + account.most_days < TODAY:
        return f"You are required to change your password immediately: the password of {account.name} has expired"
    return ""


@or_why
def _by_access_table(files: Files, name: str) -> str:
    """Return what `access.conf` says: the first line that matches counts."""
    for line in files.lines("etc/security/access.conf"):
        permission, _, rest = line.partition(":")
        users, _, origins = rest.partition(":")
        named = users.replace(",", " ").split()
        excepted = named[named.index("EXCEPT") + 1 :] if "EXCEPT" in named else []
        if ((name in named or "ALL" in named) and name not in excepted) and "ALL" in origins.split():
            return "" if permission.strip() == "+" else f"access denied for user {name}"
    return ""
