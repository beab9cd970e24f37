"""TOML that is written is TOML that reads back as the same values."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from harness.toml_text import to_toml

SCALARS = st.text(st.characters(codec="utf-8")) | st.integers(-(2**63), 2**63 - 1) | st.booleans()
VALUES = SCALARS | st.lists(st.text(st.characters(codec="utf-8")), max_size=4)
KEYS = st.text(st.characters(codec="utf-8"), max_size=12)


@given(st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=3), max_size=5))
def test_what_is_written_reads_back(values: dict[str, object]) -> None:
    assert tomllib.loads(to_toml(values)) == values


def test_plain_values_stand_before_tables_so_that_they_are_in_none() -> None:
    assert to_toml({"table": {"inside": 1}, "plain": "a"}) == 'plain = "a"\n\n[table]\ninside = 1\n'
