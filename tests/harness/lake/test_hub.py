"""Data sets of the Hugging Face hub, served by this machine: pinned, listed, their splits as `datasets` has them."""

import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfFileSystem, constants

from misstep.harness.errors import InputError, MissingPrerequisite, MisstepError, UsageError
from misstep.harness.lake.addresses import stored_files
from tests.harness.lake.hub_server import COMMIT, NAME, Hub, hub
from tests.misstep.as_a_user import in_new_interpreter

CHAT = [{"role": "user", "content": "Mend the fence."}, {"role": "assistant", "content": "Mended."}]
CARD = b"""---
configs:
- config_name: tools
  data_files:
  - {split: train, path: tools/train-*}
  - {split: test, path: tools/test-*}
---
"""


def chats(name: str) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{"id": f"{name}{number}", "messages": CHAT} for number in (1, 2)]), stream)
    return stream.getvalue()


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    names = ("train-0", "train-1", "test-0")
    with hub({"README.md": CARD} | {f"tools/{name}.parquet": chats(name) for name in names}) as running:
        yield running


@pytest.fixture
def here(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    HfFileSystem.clear_instance_cache()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("revision", ["", "@main", f"@{COMMIT}"])
def test_an_address_is_pinned_to_a_commit_and_what_is_pinned_is_said(revision, capsys) -> None:
    files = stored_files(f"hf://datasets/{NAME}{revision}/tools")
    assert [file.address for file in files] == [
        f"hf://datasets/{NAME}@{COMMIT}/tools/{name}.parquet" for name in ("test-0", "train-0", "train-1")
    ]
    assert [file.bytes for file in files] == [len(chats(name)) for name in ("test-0", "train-0", "train-1")]
    assert (f"is now hf://datasets/{NAME}@{COMMIT}/tools;" in capsys.readouterr().err) == (COMMIT not in revision)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("hf://datasets/garden/none", InputError, "there is nothing at this address"),
        ("hf://datasets/garden/private", InputError, "If it is private, run `hf auth login`"),
        ("hf://datasets/garden/gated", MissingPrerequisite, "access is denied"),
        (f"hf://datasets/{NAME}/none", InputError, "there is nothing at this address"),
        (f"hf://datasets/{NAME}?split=train&seed=1", UsageError, "the option seed"),
        (f"hf://datasets/{NAME}/tools?split=train", UsageError, "a path and a split"),
    ],
)
def test_what_the_hub_does_not_give_is_said_in_one_line(address: str, error: type[MisstepError], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        stored_files(address)
    assert "\n" not in str(raised.value)


def test_a_command_reads_a_split_records_where_its_files_are_and_keeps_the_key_to_itself(server, tmp_path) -> None:
    address = f"hf://datasets/{NAME}?config=tools&split=train"
    variables = {"HF_ENDPOINT": server.address, "HF_TOKEN": "hf_hunter2", "HF_HOME": str(tmp_path / "home")}
    variables["MISSTEP_CACHE"] = str(tmp_path / "cache")
    run = tmp_path / "run"
    ended = in_new_interpreter("classify", address, "--out", run, **variables)
    assert ended.returncode == 0, ended.stderr
    assert "hf_hunter2" in server.asked[-1]
    kept = {path.name: path.read_text() for path in run.iterdir() if path.is_file()}
    pinned = f"hf://datasets/{NAME}@{COMMIT}"
    assert [name in kept["sessions.jsonl"] for name in ("train-01", "train-12", "test-01")] == [True, True, False]
    assert f'"{pinned}/tools/train-0.parquet"' in kept["sessions.jsonl"]
    assert f"{pinned}?config=tools&split=train" in kept["run.toml"]
    assert not [name for name, text in kept.items() if "hunter2" in text or "%3A" in text]
    assert "hunter2" not in ended.stdout + ended.stderr
