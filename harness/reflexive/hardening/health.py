"""Whether the target still does what it is there for: its services, and the application `ledger` that runs on it."""

from collections.abc import Callable, Iterator

from misstep.harness.reflexive.hardening.access import dropped, refused_sudo, server_fault, shell_fault
from misstep.harness.reflexive.hardening.files import Files, UnreadableFile, or_why
from misstep.harness.reflexive.hardening.pam import STRANGER, refused_by_pam
from misstep.harness.reflexive.hardening.parsing import accounts, settings, table
from misstep.harness.reflexive.hardening.profile import known_to_programs

APPLICATION = "ledger"
SERVICES = ("sshd", "cron", "rsyslog", "local-fs", APPLICATION)

_RELOAD = "/usr/bin/ledger-reload"


@or_why
def service_fault(files: Files, service: str) -> str:
    """Return why a service does not run; empty where it does."""
    if service not in files.lines("etc/services.enabled"):
        return "not enabled"
    if "root" not in accounts(files):
        return "there is no account root to start it"
    if (mode := files.mode("etc/passwd")) is not None and not mode & 0o004:
        return "/etc/passwd: Permission denied"
    fault = _FAULTS.get(service)
    return "" if fault is None else fault(files)


def _cron_fault(files: Files) -> str:
    jobs = [line for line in files.lines("etc/crontab") if "=" not in line.split()[0]]
    broken = next((line for line in jobs if len(line.split()) < 7), None)
    return "" if broken is None else f"/etc/crontab: bad line {broken[:60]!r}"


def _log_fault(files: Files) -> str:
    lines = [line.split() for line in files.lines("etc/rsyslog.conf")]
    local = [words[1].lstrip("-") for words in lines if len(words) == 2 and words[1].lstrip("-").startswith("/")]
    if not local:
        return "/etc/rsyslog.conf: no messages are written to a file"
    closed = next((path for path in local if not takes_files(files, path.strip("/").rpartition("/")[0])), None)
    return "" if closed is None else f"cannot write {closed}"


def _mount_fault(files: Files) -> str:
    lines = table(files, "etc/fstab")
    if not any(words[1:2] == ["/"] for words in lines):
        return "/etc/fstab: no line for /"
    for words in lines:
        if len(words) != 6:
            return f"/etc/fstab: parse error in {' '.join(words)[:60]!r}"
        if words[0] not in known_to_programs().devices | {"tmpfs"} and "nofail" not in words[3].split(","):
            return f"/etc/fstab: {words[0]}: no such device"
    return ""


_FAULTS: dict[str, Callable[[Files], str]] = {
    "sshd": server_fault,
    "cron": _cron_fault,
    "rsyslog": _log_fault,
    "local-fs": _mount_fault,
}


def takes_files(files: Files, folder: str) -> bool:
    """Return whether the owner of a folder can make files in it."""
    return files.is_folder(folder) and (files.mode(folder) or 0) & 0o300 == 0o300


def application_faults(files: Files) -> Iterator[str]:
    """Return what keeps the application from working."""
    try:
        account = accounts(files).get(APPLICATION)
        options = settings(files.text("srv/ledger/ledger.conf"), "equals")
        jobs = files.lines("var/spool/cron/ledger")
    except UnreadableFile as error:
        yield error.found
        return
    if account is None:
        yield f"there is no account {APPLICATION}"
        return
    if why := shell_fault(files, account):
        yield f"its job cannot start a shell for {APPLICATION}: {why}"
    if refusal := refused_sudo(files, APPLICATION, _RELOAD):
        yield f"it cannot reload: {refusal.text}"
    if options.get("port") != "8443" or dropped(files, "8443"):
        yield "its customers cannot connect to port 8443"
    if why := refused_by_pam(files, APPLICATION, "auth", STRANGER):
        yield f"its customers cannot sign in: {why}"
    for folder in ("srv/ledger", options.get("store", "").strip("/") or "srv/ledger/data", "var/log/ledger"):
        if not takes_files(files, folder):
            yield f"it cannot write to /{folder}"
    if not any("/srv/ledger/close-day" in line and len(line.split()) == 6 for line in jobs):
        yield "its nightly job is gone"
    if why := _cron_refuses(files):
        yield f"its nightly job does not run: {why}"


@or_why
def _cron_refuses(files: Files) -> str:
    if files.at("etc/cron.allow") is not None:
        return "" if APPLICATION in files.lines("etc/cron.allow") else f"{APPLICATION} is not in /etc/cron.allow"
    denied = files.at("etc/cron.deny") is not None and APPLICATION in files.lines("etc/cron.deny")
    return f"{APPLICATION} is in /etc/cron.deny" if denied else ""
