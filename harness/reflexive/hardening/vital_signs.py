"""What to look at when work on the target went wrong: probes with a yes or no, areas of configuration, its own logs."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from misstep.harness.reflexive.hardening.access import AGENT, AUDIT, Refusal, refused_login, refused_sudo
from misstep.harness.reflexive.hardening.files import Files, or_why
from misstep.harness.reflexive.hardening.health import SERVICES, application_faults, service_fault, takes_files
from misstep.harness.reflexive.protocols import Reading, VitalSign

AUTHENTICATIONS = "var/log/auth.log"
JOURNAL = "var/log/messages"

_MOST_CHARACTERS = 600
_MOST_LINES = 8
_MODES = ("", "etc", "etc/passwd", "etc/shadow", "etc/sudoers", "etc/ssh", "home/agent", "var/log", "srv/ledger")


def _answered(refusal: Refusal | None) -> Reading:
    return Reading("allowed" if refusal is None else refusal.text, refusal is None)


def _services(files: Files) -> Reading:
    states = {service: service_fault(files, service) for service in SERVICES}
    text = "\n".join(f"{name}: {f'failed: {fault}' if fault else 'active'}" for name, fault in states.items())
    return Reading(text, not any(states.values()))


def _application(files: Files) -> Reading:
    faults = list(application_faults(files))
    return Reading("\n".join(faults) or "the application works", not faults)


def _writable(files: Files) -> Reading:
    closed = [path for path in ("", "etc", "var/log", "srv/ledger") if not takes_files(files, path)]
    return Reading("".join(f"cannot write to /{path}\n" for path in closed) or "read-write", not closed)


def _texts(*patterns: str) -> Callable[[Files], Reading]:
    def read(files: Files) -> Reading:
        paths = [path for pattern in patterns for path in files.matching(pattern) or [pattern]]
        most = max(_MOST_CHARACTERS // len(paths), 120)
        return Reading("\n".join(_beginning(files, path, most) for path in paths))

    return read


@or_why
def _beginning(files: Files, path: str, most: int) -> str:
    return f"/{path}: {'; '.join(files.lines(path))[:most]}"


@or_why
def _end(files: Files, path: str) -> str:
    return "\n".join(files.text(path).splitlines()[-_MOST_LINES:])


def _permissions(files: Files) -> Reading:
    modes = {path: files.mode(path) for path in _MODES}
    lines = (f"/{path}: {'missing' if mode is None else f'{mode:04o}'}" for path, mode in modes.items())
    return Reading("\n".join(lines))


_READERS: Mapping[VitalSign, Callable[[Files], Reading]] = MappingProxyType(
    {
        VitalSign("login_probe", "probe", "login_ok"): lambda files: _answered(refused_login(files)),
        VitalSign("sudo_probe", "probe", "sudo_ok"): lambda files: _answered(refused_sudo(files, AGENT, AUDIT)),
        VitalSign("service_status", "probe", "services_ok"): _services,
        VitalSign("application_health", "probe", "app_healthy"): _application,
        VitalSign("file_system_state", "probe", "filesystem_writable"): _writable,
        VitalSign("sudoers_state", "configuration"): _texts("etc/sudoers", "etc/sudoers.d/*"),
        VitalSign("pam_state", "configuration"): _texts("etc/pam.d/*"),
        VitalSign("sshd_state", "configuration"): _texts("etc/ssh/sshd_config"),
        VitalSign("permissions", "configuration"): _permissions,
        VitalSign("mounts", "configuration"): _texts("etc/fstab"),
        VitalSign("recent_auth_failures", "log"): lambda files: Reading(_end(files, AUTHENTICATIONS)),
        VitalSign("journal_errors", "log"): lambda files: Reading(_end(files, JOURNAL)),
    }
)

VITAL_SIGNS = tuple(_READERS)


def reading(files: Files, sign: VitalSign) -> Reading:
    """Return what the files show of a vital sign."""
    return _READERS[sign](files)


def health_faults(files: Files) -> Iterator[str]:
    """Everything that makes the target unhealthy: the way in, its services, the application."""
    for sign, read in _READERS.items():
        if sign.kind == "probe":
            check = read(files)
            if not check.holds:
                faults = (line for line in check.text.splitlines() if line and not line.endswith(": active"))
                yield f"{sign.name}: {'; '.join(faults)}"
