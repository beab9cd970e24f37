"""Data in a page: whatever the text, it stays data, and the page's script reads what was put in."""

import json
import zlib
from base64 import b64decode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.pages.browser.embedding import PLAIN_UP_TO, embedded
from misstep.harness.escaping import printable

texts = st.text(st.sampled_from('<>&"\\/\u2028\u2029\ud800\u202e\x1b\x00\n') | st.characters(exclude_categories=[]))
documents = st.lists(st.dictionaries(st.sampled_from("abc"), st.one_of(texts, st.integers(), st.none())))


def read(content: str) -> Any:
    """What the page's script reads: a value, or the value that a string holds compressed."""
    found = json.loads(content)
    return json.loads(zlib.decompress(b64decode(found))) if isinstance(found, str) else found


@given(documents)
def test_no_text_can_end_the_element_that_holds_it(document):
    assert not set("<>&\u2028\u2029") & set(embedded(document))


@given(documents)
def test_what_is_read_is_what_was_put_in_with_its_texts_printable(document):
    shown = [
        {name: printable(value) if isinstance(value, str) else value for name, value in one.items()} for one in document
    ]
    assert read(embedded(document)) == shown


def test_large_data_are_compressed_and_small_ones_stand_as_they_are():
    assert embedded({"small": "</script>"}) == '{"small":"\\u003c/script\\u003e"}'
    large = embedded({"large": "word " * PLAIN_UP_TO})
    assert len(large) < PLAIN_UP_TO
    assert read(large) == {"large": "word " * PLAIN_UP_TO}
