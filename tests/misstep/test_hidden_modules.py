"""What needs no sandbox and no run folder imports no module that Windows lacks. Nobody has tried it on Windows yet."""

import subprocess
import sys
from pathlib import Path

from tests.misstep.made_up import atif_lines

_WITHOUT = """\
import sys
sys.modules |= dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"))
from misstep.__main__ import main
for line in sys.argv[1:]:
    sys.argv = ["misstep", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
"""
LINES = (
    "classify sessions.jsonl --json",
    "view sessions.jsonl --out view.html",
    "convert sessions.jsonl --to atif --out converted",
    "agreement labels.csv --boot 50",
    "judge check labels.csv --human a --judge b",
    "audit wink",
    "judge list",
)


def test_a_command_runs_where_posix_modules_cannot_be_imported(tmp_path: Path) -> None:
    atif_lines(tmp_path / "sessions.jsonl", ["r1", "r2"])
    (tmp_path / "labels.csv").write_text("item,a,b\n1,yes,yes\n2,no,yes\n3,no,no\n4,yes,yes\n", "utf-8")
    script = [sys.executable, "-c", _WITHOUT, *LINES]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
