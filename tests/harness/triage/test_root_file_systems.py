"""Root file systems that were exported: what is unpacked stays in its folder, and commands see nothing else."""

import io
import tarfile
from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from misstep_harness.triage.images import RootFileSystems, unpack
from misstep_harness.workspace import Limits, find_sandbox, open_workspace
from tests.harness.triage.made_up_images import exported, root_file_system

FILE, LINK, HARD, DEVICE = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE
Member = tuple[str, bytes, str]


def tar_of(place: Path, *members: Member) -> Path:
    with tarfile.open(place, "w") as tar:
        for name, kind, linked in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = kind, linked, 0o4755
            member.size = 2 if kind == FILE else 0
            tar.addfile(member, io.BytesIO(b"x\n") if kind == FILE else None)
    return place


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("/etc/evil", FILE, "")], "leads out of it"),
        ([("../evil", FILE, "")], "leads out of it"),
        ([("a", LINK, "/tmp"), ("a/evil", FILE, "")], "through a link"),
        ([("a", HARD, "../../etc/passwd")], "leads out of it"),
        ([("a", HARD, "/etc/passwd")], "leads out of it"),
        ([("b", LINK, "/etc"), ("a", HARD, "b/passwd")], "through a link"),
        ([("manifest.json", FILE, "")], "docker save"),
        ([("readme", FILE, "")], "no /bin/sh"),
    ],
)
def test_a_tar_that_leads_out_or_is_none_is_refused_and_leaves_nothing(tmp_path, members, message):
    systems = RootFileSystems(tmp_path)
    with pytest.raises(InputError, match=message):
        systems.ready(tar_of(tmp_path / "rootfs.tar", *members), None)
    assert [path.suffix for path in tmp_path.iterdir() if path.is_dir()] == []
    assert not (tmp_path.parent / "evil").exists()


def test_links_stay_links_and_devices_and_setuid_bits_are_left_out(tmp_path):
    members = [("bin/sh", FILE, ""), ("dev/sda", DEVICE, ""), ("out", LINK, "/etc/passwd"), ("b", HARD, "bin/sh")]
    root = RootFileSystems(tmp_path).ready(tar_of(tmp_path / "rootfs.tar", *members), None)
    assert sorted(path.name for path in root.rglob("*")) == ["b", "bin", "out", "sh"]
    assert ((root / "out").readlink(), (root / "bin/sh").stat().st_mode & 0o7777) == (Path("/etc/passwd"), 0o755)


def test_a_tar_that_is_too_large_is_refused(tmp_path):
    place = tar_of(tmp_path / "rootfs.tar", *((f"f{number}", FILE, "") for number in range(3)))
    (tmp_path / "root").mkdir()
    with pytest.raises(InputError, match="holds more than 5 bytes"):
        unpack(place, tmp_path / "root", None, most_bytes=5)


@pytest.mark.parametrize("form", ["rootfs", "rootfs.tar", "rootfs.tar.gz"])
def test_commands_run_in_an_exported_root_and_change_nothing_of_it(tmp_path, form):
    sandbox = find_sandbox("bubblewrap")
    made = root_file_system(tmp_path / "made", {"app/words": "b\na\n", "etc/passwd": "root:x:0:0::/:/bin/sh\n"})
    source = made if form == "rootfs" else exported(made, tmp_path / form)
    systems = RootFileSystems()
    root = systems.ready(source, sandbox.owner)
    with open_workspace(root, sandbox=sandbox, inside="/app") as workspace:
        clean = workspace.take()
        done = workspace.run(["/bin/sh", "-c", "id -u; sort words > /sorted; cat /sorted; cat /etc/passwd /home/x"])
        assert done.output.startswith("0\na\nb\nroot:x")
        assert "No such file" in done.output
        assert "sorted" in workspace.changed(clean)
        workspace.restore(clean)
        assert workspace.run(["/bin/sh", "-c", "cat /sorted"]).exit_code != 0
        endless = workspace.run(["/bin/sh", "-c", "while :; do :; done"], limits=Limits(seconds=0.3))
        assert endless.ended == "time"
    assert not (root / "sorted").exists()
