"""A file that a person wrote: an error names its line, its key and what is valid there."""

from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.forms import json_form, misspelt, toml_form


class Part(Struct, forbid_unknown_fields=True):
    """A part of a file."""

    models: tuple[str, ...]
    usd: float


class Written(Struct, forbid_unknown_fields=True):
    """A file with each kind of key."""

    name: str
    kind: Literal["text", "patch"]
    votes: int = 1
    labels: dict[str, str] | list[str] = {}
    omit: tuple[Literal["seed", "temperature"], ...] = ()
    part: tuple[Part, ...] = ()


FILE = Path("mine.toml")
FORM = "See the form."
START = 'name = "x"\nkind = "text"\n'
PART = '[[part]]\nmodels = ["a"]\nusd = 1\n'


def error_of(text: str) -> str:
    with pytest.raises(InputError) as raised:
        toml_form(text.encode(), Written, FILE, FORM)
    return raised.value.line()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\nkind = "chat"\n', "mine.toml:2: kind: 'chat' is not valid. Valid: patch, text. See the form."),
        ('name = "x"\nkind = 3\n', "mine.toml:2: kind: 3 is not valid. Valid: patch, text. See the form."),
        (
            'name = "x"\nkind = "txt"\n',
            "mine.toml:2: kind: 'txt' is not valid. Did you mean text? Valid: patch, text. ",
        ),
        (START + "vots = 3\n", "mine.toml:3: vots: unknown key 'vots'. Did you mean votes? Keys: name, kind, votes, "),
        (START + 'votes = "3"\n', "mine.toml:3: votes: '3' where a whole number is expected. See the form."),
        (START + "votes = true\n", "mine.toml:3: votes: true where a whole number is expected."),
        ("votes = 3\n", "mine.toml: the keys name and kind are missing. Keys: name, kind, votes, labels, omit, part. "),
        ('name = "x"\n', "mine.toml: the key kind is missing. Keys: "),
        ('name = "x"\n', "Valid for kind: patch, text. See the form."),
        (START + 'omit = ["seed", "sed"]\n', "mine.toml:3: omit[1]: 'sed' is not valid. Did you mean seed?"),
        (START + 'labels = { a = "x", b = 3 }\n', "mine.toml:3: labels[…]: 3 where text is expected."),
        (START + PART + PART + "usdd = 1\n", "mine.toml:9: part[1].usdd: unknown key 'usdd'."),
        (
            START + PART + '[[part]]\nmodels = "a"\nusd = 1\n',
            "mine.toml:7: part[1].models: 'a' where a list is expected.",
        ),
        (START + PART + "[[part]]\nusd = 1\n", "mine.toml:6: part[1]: the key models is missing. Keys: models, usd."),
        (START + "x y\n", "mine.toml:3: not valid TOML: "),
        (START + f"votes = {'9' * 5000}\n", "mine.toml: not valid TOML: "),
        (START + f"votes = {'[' * 10_000}\n", "mine.toml: not valid TOML: "),
        (START + 'kind = "text"\n', "mine.toml:3: not valid TOML: "),
    ],
)
def test_an_error_says_the_line_the_key_what_was_found_and_what_is_valid(text: str, message: str) -> None:
    assert message in error_of(text)


def test_a_file_in_its_form_is_decoded_with_or_without_a_mark_of_byte_order() -> None:
    for start in ("", "\ufeff"):
        assert toml_form((start + START + PART).encode(), Written, FILE, FORM).part == (Part(("a",), 1.0),)


def test_a_line_of_json_names_its_own_line_and_speaks_of_objects() -> None:
    decoder = msgspec.json.Decoder(Written)
    for data, said in [
        (b'{"name": "x", "kind": "chat"}', "mine.toml:7: kind: 'chat' is not valid. Valid: patch, text."),
        (b"[]", "mine.toml:7: a list where an object is expected."),
        (b'{"name": "x"', "mine.toml:7: not valid JSON: "),
        (b"[" * 100_000, "mine.toml:7: "),
    ]:
        with pytest.raises(InputError) as raised:
            json_form(data, decoder, FILE, 7, FORM)
        assert said in raised.value.line()


def test_a_key_that_is_nearly_one_of_the_form_is_refused_and_any_other_is_let_be() -> None:
    misspelt(b'note = "x"\nlabels = []\nlabel = 3\n', ["labels", "kind"], FILE, FORM)
    with pytest.raises(InputError, match=r"mine\.toml:2: lables: unknown key 'lables'\. Did you mean labels\?"):
        misspelt(b'note = "x"\nlables = []\n', ["labels", "kind"], FILE, FORM)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(Written.__struct_fields__), inner),
    max_leaves=8,
)


@given(VALUES)
def test_whatever_stands_in_a_file_it_is_decoded_or_named(value: object) -> None:
    with suppress(InputError):  # any other error fails
        json_form(msgspec.json.encode(value), msgspec.json.Decoder(Written), FILE, 1, FORM)
