"""The target of the skill for tests: its files as values, and what scripts make of them, many in one sandbox."""

import shlex
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from misstep.harness.reflexive.hardening.files import Files, TargetEntry
from misstep.harness.reflexive.hardening.forms import RUNNING
from misstep.harness.reflexive.hardening.skill import laying_out, modes_shipped, shipped
from misstep.harness.reflexive.hardening.target import values_at_start
from misstep.harness.workspace import Limits, Sandbox, open_workspace


def seen_shipped() -> dict[str, TargetEntry]:
    modes = modes_shipped()
    results = {one.path: TargetEntry(one.kind, modes.get(one.path, 0o777), one.text.encode()) for one in shipped()}
    return {"": TargetEntry("folder", 0o755), **results}


def changed(edits: Mapping[str, object]) -> Files:
    """The shipped files with changes by path: a text, bytes, a mode, what is seen, a pair to replace, `None` to go."""
    seen = seen_shipped()
    for path, edit in edits.items():
        if edit is None:
            gone = [one for one in seen if one == path or one.startswith(f"{path}/")]
            for one in gone:
                del seen[one]
        elif isinstance(edit, TargetEntry):
            seen[path] = edit
        elif isinstance(edit, int):
            seen[path] = replace(seen[path], mode=edit)
        elif isinstance(edit, tuple):
            text = (seen[path].content or b"").decode()
            assert edit[0] in text
            seen[path] = replace(seen[path], content=text.replace(*edit).encode())
        else:
            content = edit.encode() if isinstance(edit, str) else edit
            assert isinstance(content, bytes)
            seen[path] = TargetEntry("file", seen[path].mode if path in seen else 0o644, content)
    return Files(seen)


def started(files: Files) -> Files:
    return Files({**files.entries, RUNNING: TargetEntry("file", 0o644, values_at_start(files))})


CLOSED = "-type d ! -perm -700 -o -type f ! -perm -400"


def after_scripts(sandbox: Sandbox, scripts: Mapping[str, str]) -> dict[str, Files]:
    """What each script makes of the shipped files: each has a copy of its own, and all run as one command."""
    copies = [
        f"( cp -a $TMPDIR/shipped $TMPDIR/all/{name} && cd $TMPDIR/all/{name} && sh -c {shlex.quote(script)} )"
        for name, script in scripts.items()
    ]
    lines = [
        "mkdir $TMPDIR/all && cp -a . $TMPDIR/shipped",
        *(f"{copy} >/dev/null 2>&1" for copy in copies),
        "here=$PWD; cd $TMPDIR/all",
        f"find . \\( {CLOSED} \\) -printf '%m %P\\n' -exec chmod u+rwx {{}} \\; >$here/closed",
        "tar -cf $here/all.tar .",
    ]
    with TemporaryDirectory() as empty, open_workspace(Path(empty), sandbox=sandbox) as workspace:
        workspace.lay_out_anew(laying_out(sandbox.owner), modes_shipped())
        done = workspace.run(["sh", "-c", "\n".join(lines)], limits=Limits(disk_mb=1024))
        assert done.exit_code == 0, done
        trees: dict[str, dict[str, TargetEntry]] = {name: {} for name in scripts}
        with tarfile.open(fileobj=BytesIO(workspace.read("all.tar"))) as archive:
            for member in archive:
                name, _, path = member.name.removeprefix("./").partition("/")
                if name in trees:
                    trees[name][path] = _seen(archive, member)
        for mode, place in (line.split(" ", 1) for line in workspace.read("closed").decode().splitlines()):
            name, _, path = place.partition("/")
            trees[name][path] = replace(trees[name][path], mode=int(mode, 8))
    return {name: Files(tree) for name, tree in trees.items()}


def _seen(archive: tarfile.TarFile, member: tarfile.TarInfo) -> TargetEntry:
    if member.issym():
        return TargetEntry("link", 0o777, member.linkname.encode())
    content = archive.extractfile(member) if member.isreg() else None
    kind = "folder" if member.isdir() else "file" if member.isreg() else "other"
    return TargetEntry(kind, member.mode, None if content is None else content.read())
