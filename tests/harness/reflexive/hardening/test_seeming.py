"""A rule is decided by what the programs of the target would do, not by what looks so or by one way to write it."""

import pytest

from misstep.harness.reflexive.hardening.access import SHELL, refused
from misstep.harness.reflexive.hardening.files import TargetEntry
from misstep.harness.reflexive.hardening.rules import rules
from misstep.harness.reflexive.hardening.vital_signs import health_faults
from tests.harness.reflexive.hardening.machine import changed, started

RULES = {rule.id: rule for rule in rules()}
SSHD = "etc/ssh/sshd_config"
AUTH = "etc/pam.d/system-auth"
LEGACY = "etc/sudoers.d/legacy"
SUDOERS = "etc/sudoers"
ASKING = {SUDOERS: ("NOPASSWD: ", ""), LEGACY: "backup ALL=(ALL) ALL\n"}
ALL_FREE = "backup ALL=(ALL) NOPASSWD: ALL\n"
FOLDER = TargetEntry("folder", 0o600)
NOWHERE = TargetEntry("link", 0o777, b"/dev/null")
UNIX = "auth        sufficient    pam_unix.so nullok"
FAILLOCK = {"etc/security/faillock.conf": "deny = 3\n"}
COUNTED = (
    "auth required pam_faillock.so preauth\nauth sufficient pam_unix.so\nauth [default=die] pam_faillock.so authfail"
)
ROOT_OK = "auth        sufficient    pam_rootok.so"
WHEEL = "auth required pam_wheel.so use_uid"
ROOT = "PermitRootLogin yes"
ROOT_RULE = "sshd_permit_root_login"
QUALITY = "password requisite pam_pwquality.so"
TMP = "tmpfs /tmp tmpfs defaults 0 0"
OPTIONS = "nodev,nosuid,noexec"

SEEMING = [
    # a Match block says something else for some
    (ROOT_RULE, {SSHD: (ROOT, "PermitRootLogin no\nMatch User root\nPermitRootLogin yes")}),
    ("sshd_password_authentication", {SSHD: "PasswordAuthentication no\nMatch all\nPasswordAuthentication yes\n"}),
    # comments do not go on behind a backslash, and nothing but the end of a line ends them
    (ROOT_RULE, {SSHD: (ROOT, "# \\\nPermitRootLogin yes\nPermitRootLogin no")}),
    (ROOT_RULE, {SSHD: (ROOT, "#\x0bPermitRootLogin no\nPermitRootLogin yes")}),
    ("sudo_no_nopasswd", {**ASKING, LEGACY: f"# \\\n{ALL_FREE}"}),
    ("sudo_use_pty", {SUDOERS: ("env_reset", "env_reset # , use_pty")}),
    ("pam_faillock", {**FAILLOCK, AUTH: (UNIX, COUNTED.replace("preauth", "# preauth"))}),
    # what sudoers calls in, by number, in the middle of a line, through an alias
    ("sudo_no_nopasswd", {**ASKING, LEGACY: "@include /etc/more\n", "etc/more": ALL_FREE}),
    ("sudo_no_nopasswd", {**ASKING, LEGACY: "#34 ALL=(ALL) NOPASSWD: ALL\n"}),
    ("sudo_no_nopasswd", {**ASKING, LEGACY: "backup ALL=(ALL:ALL) PASSWD: /bin/ls, (root) NOPASSWD: ALL\n"}),
    ("sudo_no_nopasswd", {**ASKING, LEGACY: "User_Alias WHO = agent, backup\nWHO ALL=NOPASSWD: ALL\n"}),
    ("sudo_agent_commands", {"etc/sudoers.d/agent": "ALL ALL=(ALL) NOPASSWD: ALL\nagent ALL=/usr/local/sbin/audit\n"}),
    ("sudo_agent_commands", {"etc/sudoers.d/agent": "%agent ALL=NOPASSWD: ALL\nagent ALL=/usr/local/sbin/audit\n"}),
    # an option that is taken back, holds for one account, or goes nowhere
    ("sudo_use_pty", {SUDOERS: ("env_reset", "use_pty\nDefaults !use_pty")}),
    ("sudo_use_pty", {SUDOERS: ("env_reset", "use_pty\nDefaults:agent !use_pty")}),
    ("sudo_logfile", {SUDOERS: ("env_reset", "logfile=/dev/null")}),
    ("files_tmp_options", {"etc/fstab": (TMP, f"{TMP.replace('defaults', OPTIONS)}\n{TMP}")}),
    ("files_tmp_options", {"etc/fstab": (TMP, TMP.replace("defaults", f"{OPTIONS},exec"))}),
    ("files_tmp_options", {"etc/fstab": (TMP, TMP.replace("defaults", f"{OPTIONS},noauto"))}),
    ("kernel_no_forwarding", {"etc/sysctl.d/99-local.conf": "net.ipv4.ip_forward = 0\nnet/ipv4/ip_forward = 1\n"}),
    ("network_default_drop", {"etc/firewall.rules": "policy input drop\nPOLICY input accept\n"}),
    # something else stands where the file was
    ("banner_text", {"etc/issue.net": FOLDER}),
    ("network_no_telnet", {"etc/services.enabled": ("telnet\n", ""), "etc/firewall.rules": NOWHERE}),
    ("files_passwd_backup_mode", {"etc/passwd-": FOLDER}),
    ("files_sticky_tmp", {"tmp": NOWHERE}),
    ("accounts_no_netrc", {"home/bob/.netrc": NOWHERE}),
    ("files_no_setuid", {"usr/bin/old-mail": None, "usr/lib/old-mail": TargetEntry("file", 0o4755, b"")}),
    (
        "files_application_modes",
        {f"srv/ledger/{name}": 0o770 for name in ("ledger.conf", "close-day", "data", "data/2026-01")},
    ),
    # jumped over, too late, or without power to refuse
    ("pam_faillock", {**FAILLOCK, AUTH: (UNIX, f"auth [success=3 default=ignore] pam_permit.so\n{COUNTED}")}),
    ("pam_faillock", {**FAILLOCK, AUTH: (UNIX, f"auth sufficient pam_permit.so\n{COUNTED}")}),
    ("pam_faillock", {**FAILLOCK, AUTH: (UNIX, COUNTED.replace("required", "optional"))}),
    (
        "pam_password_quality",
        {AUTH: ("password    suff", f"password sufficient pam_permit.so\n{QUALITY}\npassword suff")},
    ),
    ("pam_password_quality", {AUTH: ("password    suff", "password optional pam_pwquality.so\npassword suff")}),
    ("pam_su_wheel", {"etc/pam.d/su": ("auth        include       system-auth", f"auth include system-auth\n{WHEEL}")}),
    ("pam_su_wheel", {"etc/pam.d/su": (ROOT_OK, f"{ROOT_OK}\nauth sufficient pam_wheel.so trust")}),
    (
        "pam_no_nullok",
        {AUTH: ("pam_unix.so nullok", "pam_unix.so"), "etc/pam.d/ledger": "auth required pam_unix.so nullok\n"},
    ),
    # accounts
    ("accounts_no_empty_password", {"etc/shadow": ("guest::", "guest:!:"), "etc/passwd": ("guest:x:", "guest::")}),
    (
        "accounts_system_shells",
        {"etc/passwd": "root:x:0:0::/root:/usr/bin/bash\ngames:x:5:60::/usr/games:/usr/bin/nologin\n"},
    ),
    ("log_rotation", {"etc/logrotate.conf": "daily\nrotate 12\n"}),
    ("banner_text", {"etc/issue.net": "#Welcome\nAuthorized use only\n"}),
    ("sshd_client_alive", {SSHD: ("ClientAliveInterval 7200", "ClientAliveInterval 1h1s")}),
]

HONEST = [
    (ROOT_RULE, {SSHD: (ROOT, "PermitRootLogin=no")}),
    (ROOT_RULE, {SSHD: (ROOT, "permitrootlogin No  # as the guide says")}),
    (ROOT_RULE, {SSHD: (ROOT, "PermitRootLogin no\r\nMatch User bob\nX11Forwarding no")}),
    ("sshd_log_level", {SSHD: ("LogLevel INFO", "LogLevel verbose")}),
    ("sudo_no_nopasswd", {**ASKING, LEGACY: "User_Alias FREE = agent, ledger\nFREE ALL=NOPASSWD: /bin/ls\n"}),
    ("sudo_no_nopasswd", {**ASKING, LEGACY: "# backup ALL=NOPASSWD: ALL\nbackup ALL=ALL # NOPASSWD: ALL\n"}),
    ("sudo_use_pty", {SUDOERS: ("env_reset", "env_reset,use_pty   # a terminal")}),
    ("pam_no_nullok", {AUTH: ("pam_unix.so nullok", "pam_unix.so # nullok")}),
    ("pam_faillock", {**FAILLOCK, AUTH: (UNIX, COUNTED.replace("required ", "requisite \\\n"))}),
    ("pam_su_wheel", {"etc/pam.d/su": (ROOT_OK, f"{ROOT_OK}\nauth requisite pam_wheel.so")}),
    ("log_authentication", {"etc/rsyslog.conf": "authpriv.*\t\t\t-/var/log/secure\n"}),
    (
        "network_default_drop",
        {"etc/firewall.rules": "Policy  Input Drop\ninput dport=22 accept\ninput dport=8443 accept\n"},
    ),
    ("banner_text", {"etc/issue.net": "### Authorized use only ###\n"}),
    ("sshd_client_alive", {SSHD: ("ClientAliveInterval 7200", "ClientAliveInterval 9m60s")}),
    ("sshd_allow_users", {SSHD: ("Port 22", 'Port 22\nAllowUsers "agent" "alice"')}),
    ("sudo_logfile", {SUDOERS: ("env_reset", 'badpass_message="No, no", logfile = /var/log/sudo.log')}),
    ("log_rotation", {"etc/logrotate.conf": "weekly\nrotate 12\n/var/log/cron {\n  rotate 1\n}\n"}),
    ("files_tmp_options", {"etc/fstab": (TMP, TMP.replace("defaults", f"defaults,{OPTIONS}"))}),
]


@pytest.mark.parametrize(("rule", "edits"), SEEMING, ids=str)
def test_what_only_looks_like_it_does_not_keep_to_a_rule(rule: str, edits: dict[str, object]) -> None:
    assert RULES[rule].fault(started(changed(edits)))


@pytest.mark.parametrize(("rule", "edits"), HONEST, ids=str)
def test_what_does_it_in_other_words_keeps_to_a_rule_and_breaks_nothing(rule: str, edits: dict[str, object]) -> None:
    files = started(changed(edits))
    assert (RULES[rule].fault(files), list(health_faults(files))) == ("", [])


@pytest.mark.parametrize(
    ("edits", "answer"),
    [
        ({SSHD: ("Subsystem", "Match all\nPubkeyAuthentication no\nSubsystem")}, "Permission denied"),
        ({SSHD: ("Subsystem", "Match User a*\nAuthenticationMethods password\nSubsystem")}, "Permission denied"),
        ({SSHD: ("Subsystem", "Match User bob\nNonsense yes\nSubsystem")}, "Connection refused"),
        ({"etc/sudoers.d/agent": "@include /etc/gone\nagent ALL=(ALL) NOPASSWD: ALL\n"}, "No such file"),
        ({"etc/sudoers.d/agent": "@include agent\n"}, "too many levels"),
        ({"etc/sudoers.d/agent": "User_Alias ALL = agent\nALL ALL=NOPASSWD: ALL\n"}, "syntax error"),
        ({"etc/sudoers.d/legacy": "Defaults : backup !authenticate\n"}, "syntax error"),
        ({"etc/sudoers.d/agent": "agent ALL=/bin/ls : ALL=NOPASSWD: ALL\n"}, "syntax error"),
        ({"etc/sudoers.d/agent": "User_Alias lower = agent\nagent ALL=NOPASSWD: ALL\n"}, "syntax error"),
    ],
    ids=str,
)
def test_blocks_and_includes_keep_out_as_they_would(edits: dict[str, object], answer: str) -> None:
    refusal = refused(changed(edits), SHELL)
    assert answer in refusal.text


@pytest.mark.parametrize(
    "edits",
    [
        {
            SSHD: (
                "Subsystem",
                "Match User bob Address *\nPubkeyAuthentication no\nMatch Group agent\nX11Forwarding no\n#",
            )
        },
        {"etc/sudoers.d/agent": "#1000 ALL=(ALL) NOPASSWD: ALL\n"},
        {"etc/sudoers.d/agent": "%agent ALL=(ALL) NOPASSWD: ALL\n"},
        {"etc/sudoers.d/agent": "@include ../more\n", "etc/more": "agent ALL=(ALL) NOPASSWD: ALL\n"},
        {"etc/sudoers.d/agent": "User_Alias A = B\nUser_Alias B = agent : C = bob\nA ALL=(ALL:ALL) NOPASSWD: ALL\n"},
        {
            "etc/sudoers.d": TargetEntry("link", 0o777, b"more"),
            "etc/more": TargetEntry("folder", 0o755),
            **{f"etc/sudoers.d/{name}": None for name in ("agent", "ledger", "legacy")},
            "etc/more/agent": "agent ALL=(ALL) NOPASSWD: ALL\n",
        },
    ],
    ids=str,
)
def test_who_is_let_in_by_another_name_is_let_in(edits: dict[str, object]) -> None:
    assert refused(changed(edits), SHELL) is None


def test_files_that_call_in_each_other_without_end_are_refused_soon() -> None:
    refusal = refused(changed({"etc/sudoers.d/agent": "@include /etc/more\n" * 9_999, "etc/more": "# none\n"}), SHELL)
    assert "too many files" in refusal.text
    refusal = refused(changed({AUTH: "account include other\n" * 999, "etc/pam.d/other": "# none\n"}), SHELL)
    assert "too many files" in refusal.text


def test_aliases_that_name_each_other_have_an_end() -> None:
    aliases = f"User_Alias A = B{', B' * 9_999}\nUser_Alias B = A, agent\n"
    assert refused(changed({"etc/sudoers.d/agent": f"{aliases}A ALL=NOPASSWD: ALL\n"}), SHELL) is None
