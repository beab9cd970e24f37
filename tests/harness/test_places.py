"""Where the cache is: a place where no folder can be is an error of the user's, named."""

from pathlib import Path

import pytest

from misstep_harness.errors import UsageError
from misstep_harness.places import cache_folder


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_cache_in_a_place_where_no_folder_can_be_is_refused(below, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "file" / below))
    with pytest.raises(UsageError, match=f"{tmp_path / 'file'} is not a folder"):
        cache_folder()


def test_a_cache_need_not_be_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "new" / "cache"))
    assert cache_folder() == tmp_path / "new" / "cache"
