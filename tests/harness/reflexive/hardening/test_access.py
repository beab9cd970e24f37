"""The way in: what a real target would answer, for each thing that keeps the agent out."""

import pytest

from misstep.harness.reflexive.hardening.access import AUDIT, SHELL, refused, refused_sudo
from misstep.harness.reflexive.hardening.files import TargetEntry
from misstep.harness.reflexive.hardening.health import application_faults
from tests.harness.reflexive.hardening.machine import changed

SSHD = "etc/ssh/sshd_config"
PAM = "etc/pam.d/system-auth"
ACCESS_TABLE = ("account ", "account required pam_access.so\naccount ")

LOGIN = [
    ({SSHD: None}, "Connection refused"),
    ({SSHD: TargetEntry("folder", 0o755)}, "Connection refused"),
    ({SSHD: TargetEntry("link", 0o777, b"/etc/ssh/sshd_config")}, "Connection refused"),
    ({SSHD: ("Port 22", "Port 2222")}, "Connection refused"),
    ({SSHD: ("Port 22", "Prot 22")}, "Connection refused"),
    ({SSHD: ("PubkeyAuthentication yes", "PubkeyAuthentication no")}, "Permission denied (publickey)"),
    ({SSHD: ("Port 22", "Port 22\nAllowUsers alice")}, "Permission denied (publickey)"),
    ({SSHD: ("Port 22", "Port 22\nDenyUsers bob agent")}, "Permission denied (publickey)"),
    ({SSHD: ("Port 22", "Port 22\nAuthenticationMethods publickey,password")}, "Permission denied (publickey)"),
    ({"etc/ssh/ssh_host_ed25519_key": None}, "Connection refused"),
    ({"etc/ssh/ssh_host_ed25519_key": 0o666}, "Connection refused"),
    ({"etc/services.enabled": ("sshd\n", "")}, "Connection refused"),
    ({"etc/firewall.rules": ("input dport=22 accept", "input dport=22 drop")}, "Connection timed out"),
    ({"etc/passwd": ("agent:x:", "agend:x:")}, "Permission denied (publickey)"),
    ({"etc/passwd": ("/home/agent:/usr/bin/bash", "/home/agent:/usr/sbin/nologin")}, "currently not available"),
    ({"etc/passwd": ("/home/agent:/usr/bin/bash", "/home/gone:/usr/bin/bash")}, "Permission denied (publickey)"),
    ({"etc/shells": ("/usr/bin/bash", "/bin/zsh")}, "currently not available"),
    ({"usr/bin/bash": None}, "No such file or directory"),
    ({"usr/bin/bash": 0o600}, "/usr/bin/bash: Permission denied"),
    ({"etc/shadow": None}, "Permission denied (publickey)"),
    ({"etc/shadow": ("agent:*:19700:0:99999:7:::", "agent:*:19700:0:99999:7::19999:")}, "account has expired"),
    ({"etc/shadow": ("agent:*:19700:0:99999", "agent:*:19700:0:60")}, "change your password"),
    ({"home/agent": 0o777}, "Permission denied (publickey)"),
    ({"home/agent/.ssh/authorized_keys": "ssh-ed25519 AAAA alice\n"}, "Permission denied (publickey)"),
    ({"home/agent/.ssh": TargetEntry("link", 0o777, b"/gone")}, "Permission denied (publickey)"),
    ({"etc/nologin": ""}, "System is going down"),
    ({"etc/pam.d/sshd": None}, "PAM cannot read the stack of sshd"),
    ({PAM: None}, "system-auth: No such file"),
    ({PAM: b"account required pam_unix.so\0"}, "binary file"),
    ({PAM: TargetEntry("file", 0o644)}, "File too large"),
    ({PAM: "account include system-auth\n"}, "it includes itself"),
    ({PAM: "account\n"}, "no PAM line"),
    ({PAM: ("account ", "account required pam_deny.so\naccount ")}, "pam_deny.so"),
    ({PAM: ("account ", "account required pam_wheel.so\naccount ")}, "not in the group wheel"),
    (
        {
            PAM: ("account ", "account required pam_access.so\naccount "),
            "etc/security/access.conf": "-:ALL EXCEPT root:ALL\n",
        },
        "access denied",
    ),
]

SUDO = [
    ({"usr/bin/sudo": None}, "command not found"),
    ({"usr/bin/sudo": 0o755}, "must be owned by uid 0 and have the setuid bit set"),
    ({"etc/sudoers": None}, "No such file"),
    ({"etc/sudoers.d/legacy": "backup ALL=(ALL) NOPASSWD: \n"}, "syntax error"),
    ({"etc/sudoers.d/legacy": 'Defaults logfile="/var/log\n'}, "syntax error"),
    ({"etc/sudoers.d/agent": None}, "agent is not in the sudoers file."),
    ({"etc/sudoers": ("@includedir /etc/sudoers.d", "")}, "agent is not in the sudoers file."),
    ({"etc/sudoers.d/agent": ("NOPASSWD: ", "")}, "a password is required"),
    ({"etc/sudoers.d/agent": ("ALL\n", "ALL\nagent ALL=(ALL) ALL\n")}, "a password is required"),
    ({"etc/sudoers.d/agent": ("NOPASSWD: ALL", f"NOPASSWD: {AUDIT}")}, "not allowed to execute '/bin/sh'"),
    ({"etc/sudoers.d/agent": ("NOPASSWD: ALL", "NOPASSWD: ALL, !/bin/sh")}, "not allowed to execute '/bin/sh'"),
    ({"etc/sudoers": ("env_reset", "env_reset, requiretty")}, "must have a tty"),
    ({"etc/pam.d/sudo": None}, "PAM account management error"),
]

STILL_IN = [
    {SSHD: ("Port 22", "Port 22\nPort 2222\nPermitRootLogin no")},
    {SSHD: ("Subsystem", "Match User bob\nPubkeyAuthentication no\nSubsystem")},
    {"etc/sudoers.d/agent": ("NOPASSWD: ", ""), "etc/sudoers": ("Defaults env_reset", "Defaults:agent !authenticate")},
    {"etc/sudoers.d/agent": "User_Alias WHO = agent, bob\nCmnd_Alias WHAT = /bin/sh\nWHO ALL=(root) NOPASSWD: WHAT\n"},
    {"etc/sudoers.d/agent": ("agent ALL", "agent ALL=(ALL) ALL\nagent ALL")},
    {"etc/sudoers.d/broken~": "no syntax\n", "etc/sudoers.d/broken.bak": "none either\n"},
    {"etc/sudoers": TargetEntry("link", 0o777, b"sudoers.real"), "etc/sudoers.real": "agent ALL=(ALL) NOPASSWD: ALL\n"},
    {PAM: ACCESS_TABLE, "etc/security/access.conf": "-:bob:ALL\n+:agent:ALL\n-:ALL:ALL\n"},
    {PAM: ("account ", "account [success=1 default=ignore] pam_permit.so\naccount required pam_deny.so\naccount ")},
    {PAM: ("account ", "account optional pam_deny.so\naccount ")},
]


@pytest.mark.parametrize(("edits", "answer"), LOGIN + SUDO, ids=lambda one: one if isinstance(one, str) else None)
def test_who_is_kept_out_is_told_what_a_real_target_says(edits: dict[str, object], answer: str) -> None:
    refusal = refused(changed(edits), SHELL)
    assert answer in refusal.text
    assert refusal.log


@pytest.mark.parametrize("edits", STILL_IN, ids=str)
def test_what_only_looks_like_it_keeps_nobody_out(edits: dict[str, object]) -> None:
    assert refused(changed(edits), SHELL) is None


def test_the_audit_command_stays_when_all_else_is_taken_away() -> None:
    files = changed({"etc/sudoers.d/agent": ("NOPASSWD: ALL", f"NOPASSWD: {AUDIT}")})
    assert refused_sudo(files, "agent", AUDIT) is None


@pytest.mark.parametrize(
    "edits",
    [
        {"etc/passwd": ("ledger:x:", "leger:x:")},
        {"etc/passwd": ("/srv/ledger:/usr/bin/bash", "/srv/ledger:/usr/sbin/nologin")},
        {"etc/sudoers.d/ledger": None},
        {"etc/sudoers.d/ledger": ("NOPASSWD: ", "")},
        {"srv/ledger/ledger.conf": ("8443", "443")},
        {"srv/ledger": 0o640},
        {"var/log/ledger": None},
        {"var/log/ledger": 0o555},
        {"var/spool/cron/ledger": "# none\n"},
        {"etc/cron.allow": "root\n"},
        {"etc/cron.deny": "ledger\n"},
        {"etc/firewall.rules": "policy input drop\ninput dport=22 accept\n"},
        {PAM: ("auth        required      pam_env.so", "auth required pam_faillock.so authfail")},
        {PAM: ("pam_unix.so nullok", "pam_made_up.so")},
    ],
    ids=str,
)
def test_the_application_misses_what_it_needs(edits: dict[str, object]) -> None:
    assert list(application_faults(changed(edits)))


def test_order_decides_in_a_pam_stack() -> None:
    unix = "auth        sufficient    pam_unix.so nullok"
    after = changed(
        {PAM: (unix, f"auth required pam_faillock.so preauth\n{unix}\nauth [default=die] pam_faillock.so authfail")}
    )
    before = changed({PAM: (unix, f"auth [default=die] pam_faillock.so authfail\n{unix}")})
    assert list(application_faults(after)) == []
    assert "locked" in next(application_faults(before))
