"""Sessions packed into Parquet: whole, resumable, the same bytes however they were packed."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from misstep.harness.errors import InputError, NoTrajectory, UsageError
from misstep.harness.lake.columns import BODY, INDEX
from misstep.harness.lake.index import query
from misstep.harness.lake.packing import Sizes
from misstep.harness.lake.store import FolderStore, open_store
from misstep.harness.readers import read_file
from misstep.harness.readers.interchange.atif import to_atif
from misstep.harness.runs.inputs import trajectories
from misstep.harness.runs.pack import pack
from misstep.harness.trajectory import Source, Step, Trajectory
from misstep.harness.version import __version__
from tests.families.recordings import recording_of
from tests.misstep.made_up import atif, atif_lines

SMALL = Sizes(group=400, file=1500, chunk=900)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty-one sessions of three formats, a broken line, a file of no format, and two ids that are taken."""
    monkeypatch.chdir(tmp_path)
    folder = Path("runs")
    folder.mkdir()
    (folder / "a.tau").write_bytes(recording_of("taubench"))
    (folder / "b.mini").write_bytes(recording_of("mini_swe_agent"))
    atif_lines(folder / "c.jsonl", [f"run-{number}" for number in range(36)])
    with (folder / "c.jsonl").open("ab") as stream:
        stream.write(b'{"schema_version": "ATIF\n' + atif("run-3", text="a copy") + atif("run-3"))
    (folder / "notes.txt").write_text("nothing\n")
    return folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.suffix == ".parquet"}


def test_every_session_comes_back_as_it_was_and_other_things_are_counted(runs: Path, tmp_path: Path) -> None:
    packed = pack([runs], str(tmp_path / "lake"), sizes=SMALL)
    before = [one for one in trajectories([runs]) if isinstance(one, Trajectory)]
    table = pq.read_table(tmp_path / "lake")
    documents = [msgspec.json.encode(to_atif(one)).decode() for one in before]
    assert table[BODY].to_pylist() == documents
    (tmp_path / "again.jsonl").write_text("\n".join(documents))
    assert list(read_file(tmp_path / "again.jsonl")) == before
    assert set(zip(table["reader"].to_pylist(), table["reader_version"].to_pylist(), strict=True)) == {
        (reader, __version__) for reader in ("taubench", "mini_swe_agent", "atif")
    }
    tally = packed.tally
    assert (tally.sessions, tally.renamed, tally.skipped) == (len(before), 2, 1)
    assert [(Path(one.file).name, one.line) for one in tally.unreadable] == [("c.jsonl", 37)]
    assert packed.bytes == sum(map(len, bytes_of(tmp_path / "lake").values()))
    assert len(packed.parts) > 2


def test_ids_are_unique_as_in_classify_and_a_copy_has_the_cluster_of_the_first(runs: Path, tmp_path: Path) -> None:
    pack([runs], str(tmp_path / "lake"))
    rows = query(str(tmp_path / "lake"), ["transcript_id", "cluster"], "cluster = 'run-3'").to_pylist()
    assert [row["transcript_id"] for row in rows] == ["run-3", "run-3~2", "run-3~3"]


def test_runs_of_sub_agents_have_the_cluster_of_the_session_that_started_them(tmp_path: Path) -> None:
    plain = Trajectory("root", Source("misstep"), steps=(Step("user", "Mend it."),))
    family = [plain, replace(plain, id="child", parent="root"), replace(plain, id="grandchild", parent="child")]
    family.append(replace(plain, id="orphan", parent="elsewhere"))
    (tmp_path / "runs.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(family))
    pack([tmp_path / "runs.jsonl"], str(tmp_path / "lake"))
    assert query(str(tmp_path / "lake"), ["cluster"])["cluster"].to_pylist() == ["root", "root", "root", "elsewhere"]


def _stop_after(method: str, times: int) -> Callable[..., None]:
    """A method of a store that is interrupted when it has done its work so many times."""
    whole, done = getattr(FolderStore, method), []

    def stopping(self: FolderStore, *arguments: object) -> None:
        if len(done) == times:
            raise KeyboardInterrupt
        done.append(1)
        whole(self, *arguments)

    return stopping


@pytest.mark.parametrize(("method", "times"), [("put", 0), ("put", 2), ("write", 2), ("move", 1)])
def test_a_pack_that_was_stopped_goes_on_with_the_same_line_to_the_same_bytes(
    method: str, times: int, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    whole = pack([runs], str(tmp_path / "whole"), sizes=SMALL)
    with monkeypatch.context() as stopped:
        stopped.setattr(FolderStore, method, _stop_after(method, times))
        with pytest.raises(KeyboardInterrupt):
            pack([runs], str(lake), sizes=SMALL)
    assert method == "move" or not bytes_of(lake).keys() & bytes_of(tmp_path / "whole").keys()
    assert pack([runs], str(lake), sizes=SMALL) == whole
    assert bytes_of(lake) == bytes_of(tmp_path / "whole")


def test_what_is_packed_stands_and_another_pack_is_refused(runs: Path, tmp_path: Path) -> None:
    first = pack([runs], str(tmp_path / "lake"))
    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "lake").iterdir()}
    assert pack([runs], str(tmp_path / "lake")) == first
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "lake").iterdir()} == times
    with pytest.raises(UsageError, match=r"other sessions: .*a\.tau, .* went away"):
        pack([runs / "c.jsonl"], str(tmp_path / "lake"))
    (tmp_path / "lake" / ".misstep.json").unlink()
    with pytest.raises(UsageError, match=r"holds part-00000\.parquet, which `misstep pack` has not written"):
        pack([runs], str(tmp_path / "lake"))
    (tmp_path / "lake" / ".misstep.json").write_text("{}")
    with pytest.raises(InputError, match="not the state of a packed folder"):
        pack([runs], str(tmp_path / "lake"))


def test_no_folder_of_the_machine_is_in_what_is_packed(runs: Path, tmp_path: Path) -> None:
    pack([runs], str(tmp_path / "named_from_here"), sizes=SMALL)
    pack([runs.resolve()], str(tmp_path / "named_from_the_root"), sizes=SMALL)
    assert bytes_of(tmp_path / "named_from_here") == bytes_of(tmp_path / "named_from_the_root")
    assert set(pq.read_table(tmp_path / "named_from_here")["source_uri"].to_pylist()) >= {"runs/c.jsonl"}
    others = [file.read_bytes() for file in (tmp_path / "named_from_the_root").rglob("*.json*")]
    assert not any(str(tmp_path).encode() in content for content in others)


def test_messages_stand_beside_the_document_where_they_are_asked_for(runs: Path, tmp_path: Path) -> None:
    pack([runs / "c.jsonl"], str(tmp_path / "lake"), messages=True)
    table = pq.read_table(tmp_path / "lake" / "part-00000.parquet")
    assert table.column_names[-2:] == ["messages", BODY]
    messages = [msgspec.json.decode(one) for one in table["messages"].to_pylist()]
    assert [len(one) for one in messages] == table["message_count"].to_pylist()
    with pytest.raises(UsageError, match="has the column of messages"):
        pack([runs / "c.jsonl"], str(tmp_path / "lake"))


def test_the_index_of_inspect_scout_names_the_file_of_each_session(runs: Path, tmp_path: Path) -> None:
    packed = pack([runs], str(tmp_path / "lake"), sizes=SMALL)
    (index,) = (tmp_path / "lake" / "_index").iterdir()
    table = pq.read_table(pa.BufferReader(index.read_bytes()))
    assert table.column_names == [*INDEX, "filename"]
    counted = {part.name: part.rows for part in packed.parts}
    assert Counter(table["filename"].to_pylist()) == counted


def test_where_there_is_no_session_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "notes.txt").write_text("nothing\n")
    with pytest.raises(NoTrajectory, match="only 1 file of no known format"):
        pack([tmp_path / "runs"], str(tmp_path / "lake"))
    assert not list((tmp_path / "lake").iterdir())


def test_an_address_is_packed_into_as_a_folder_is(runs: Path, tmp_path: Path) -> None:
    pack([runs], str(tmp_path / "lake"))
    pack([runs], "memory://packed/lake")
    store = open_store("memory://packed/lake")
    assert {name: store.read(name) for name in store.names("") if name.startswith("part-")} == bytes_of(
        tmp_path / "lake"
    )
    assert query("memory://packed/lake", ["transcript_id"]).num_rows == 41
