"""What Misstep ships is found in a checkout and in an installation."""

import pytest

from analysis import places
from harness.errors import MissingPrerequisite


def test_a_checkout_has_its_data_beside_the_packages():
    assert (places.shipped("data") / "datasets.toml").is_file()


def test_an_installation_has_them_inside_the_way_in(tmp_path, monkeypatch):
    (tmp_path / "misstep" / "_notebooks").mkdir(parents=True)
    monkeypatch.setattr(places, "_ABOVE", tmp_path)
    assert places.shipped("notebooks") == tmp_path / "misstep" / "_notebooks"


def test_neither_place_is_an_installation_to_be_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "_ABOVE", tmp_path)
    with pytest.raises(MissingPrerequisite, match="no data folder"):
        places.shipped("data")
