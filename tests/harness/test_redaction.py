"""A secret is in nothing that is kept or shown, however a server spells it, splits it or cuts it."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.clients.batches import read_outcomes
from misstep_harness.clients.parse_response import ParsedAnswer, parse_response
from misstep_harness.exchange import Failure, Outcome
from misstep_harness.redaction import SHOWN_INSTEAD, Redaction, keys_in, without_keys
from tests.harness.clients.faulty_server import completion

KEY = "sk-proj-7Hq/2mXw+Zt9_LrB4vNc=E8sPd1GyKa"
REDACT = Redaction(KEY, ["org-5Fj8Wn3Qb7Rz1Tk6", "acme rockets"])

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": lambda key: key.replace("/", r"\/"),
    "JSON by number": lambda key: "".join(f"\\u{ord(sign):04x}" for sign in key),
    "JSON by number, capitals": lambda key: "".join(f"\\u{ord(sign):04X}" for sign in key),
    "JSON in JSON": lambda key: json.dumps("".join(f"\\u{ord(sign):04x}" for sign in key)),
    "JavaScript": lambda key: "".join(f"\\x{ord(sign):02x}" for sign in key),
    "URL": lambda key: quote(key, safe=""),
    "URL, lower case": lambda key: quote(key, safe="").lower() if key.islower() else quote(key, safe=""),
    "URL, every sign": lambda key: "".join(f"%{ord(sign):02x}" for sign in key),
    "URL in URL": lambda key: quote("".join(f"%{ord(sign):02X}" for sign in key), safe=""),
    "HTML": lambda key: "".join(f"&#{ord(sign)};" for sign in key),
    "HTML, hexadecimal": lambda key: "".join(f"&#x{ord(sign):X};" for sign in key),
    "HTML in HTML": lambda key: "".join(f"&amp;#{ord(sign)};" for sign in key),
    "Basic": lambda key: b64encode(f"user:{key}".encode()).decode(),
    "Basic, shifted by one": lambda key: b64encode(f"user1:{key}!".encode()).decode(),
    "Basic, shifted by two": lambda key: urlsafe_b64encode(f"user12:{key}".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "on several lines": lambda key: "\n".join(re.findall("..?.?.?.?", key)),
    "with spaces": " ".join,
    "with a tag in it": lambda key: f"{key[:9]}<b>{key[9:20]}</b><span class='k'>{key[20:]}</span>",
    "with invisible signs": "\u200b".join,
    "with invisible signs by number": "\\u00ad".join,
    "in two bytes a sign": lambda key: key.encode("utf-16-le").decode(),
    "its beginning": lambda key: key[:20],
    "its end": lambda key: key[-20:],
    "its middle": lambda key: key[10:30],
}

STREWN: dict[str, Callable[[str], str]] = {
    "with variation selectors": "\ufe0f".join,
    "with marks of direction": "\u2066".join,
    "with accents": "\u0301".join,
    "with colours": "\x1b[1m".join,
    "with other signs": "-".join,
    "as a list": lambda key: json.dumps(list(key)),
    "in capitals": str.upper,
    "in full width": lambda key: "".join(chr(ord(sign) + 0xFEE0) for sign in key),
}


def shown(text: str) -> str:
    for _ in range(3):
        text = re.sub(
            r"\\+[ux]0{0,2}([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})", lambda hit: chr(int(hit[1] or hit[2], 16)), text
        )
        text = re.sub(r"&(?:amp;)?#(\d+);", lambda hit: chr(int(hit[1])), text)
    text = text.replace("\\", "")
    return re.sub(r"<[^<>]*>|[\s\u200b\u00ad\x00]", "", text)


def is_clean(outcome: Outcome) -> bool:
    for text in (field for field in msgspec.structs.astuple(outcome) if isinstance(field, str)):
        meant = shown(text)
        if any(KEY[start : start + 11] in meant for start in range(len(KEY) - 10)):
            return False
        if KEY.encode().hex()[20:40] in meant or b64encode(KEY.encode()).decode()[8:20] in meant:
            return False
    return True


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_key_is_the_key_however_it_is_spelt(spelling: str) -> None:
    text = f"you sent {SPELLINGS[spelling](KEY)} to us"
    cleaned = REDACT(text)
    assert "[API key]" in cleaned
    assert KEY[10:22] not in shown(cleaned)
    assert cleaned.startswith("you sent ")


@pytest.mark.parametrize("spelling", STREWN)
@pytest.mark.parametrize("text", [str, json.dumps], ids=["as it is", "as JSON"])
def test_the_letters_of_a_key_in_order_hide_a_text(spelling: str, text: Callable[[str], str]) -> None:
    assert REDACT(text(f"you sent {STREWN[spelling](KEY)} to us")) == "[API key]"


@given(st.lists(st.sampled_from(sorted(SPELLINGS)), min_size=1, max_size=3), st.integers(0, 21_000), st.booleans())
def test_no_cut_goes_through_a_key(spellings: list[str], before: int, as_json: bool) -> None:
    """Wherever a key stands, what is shortened after 200 or 20,000 signs was cleaned first."""
    text = "x" * before + "".join(SPELLINGS[name](KEY) + "y" * (before % 190) for name in spellings)
    for status in (200, 400, 401, 429, 500):
        body = json.dumps({"error": {"message": text}}).encode() if as_json else f"<p>{text}</p>".encode()
        assert is_clean(parse_response(ParsedAnswer(status, {"content-type": text}, body), "m", 0.0, REDACT))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_key_in_parts_of_an_answer_is_in_neither_text_nor_body(encoding: str) -> None:
    parts = [{"type": "text", "text": piece} for piece in re.findall("..?.?.?.?.?.?", KEY)]
    body = json.dumps(completion(parts)).encode(encoding)
    outcome = parse_response(ParsedAnswer(200, {}, body), "m", 0.0, REDACT)
    assert outcome.text == "[API key]"
    assert not any(piece["text"] in outcome.raw for piece in parts)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_key_in_a_batch_is_the_key(spelling: str) -> None:
    text = SPELLINGS[spelling](KEY)
    whole = completion(text, model=text, message={"refusal": text}, choice={"finish_reason": text})
    lines = [
        {"custom_id": "a", "response": {"status_code": 200, "body": whole}},
        {"custom_id": "b", "response": {"status_code": 400, "body": {"error": "x" * 180 + text}}},
        {"custom_id": "c", "error": {"message": text}},
    ]
    content = "\n".join(map(json.dumps, lines)).encode()
    outcomes = read_outcomes(content, dict.fromkeys("abc", "m"), REDACT)
    assert len(outcomes) == 3
    assert all(map(is_clean, outcomes.values()))


def test_other_secrets_are_shown_as_that() -> None:
    assert REDACT("of org-5Fj8Wn3Qb7Rz1Tk6, acme\nrockets") == "of [secret], [secret]"


def test_a_placeholder_is_no_secret() -> None:
    assert (Redaction("none")("none of it"), Redaction("")("all of it")) == ("none of it", "all of it")
    assert Redaction("sk-0123456789")("a sk-0123456789 b") == "a [API key] b"


@given(st.text(st.sampled_from('abc "\\/%<>&;{}[]:,u0073\n'), max_size=300))
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert REDACT(text) == text


@pytest.mark.parametrize(
    "sign", ["s", "\\", "%", "&", "<", " ", "%25", "&amp;", "\\u", "s<", "s\\", KEY[:10], "\\u0073"]
)
def test_the_work_grows_with_the_text_alone(sign: str) -> None:
    """So many escapes that each way of reading them is tried once: what takes its square would not end."""
    text = sign * (400_000 // len(sign))
    assert len(REDACT(text)) > 0
    assert len(REDACT(text + SPELLINGS["URL, every sign"](KEY))) > 0


@pytest.mark.parametrize("after", range(185, 205))
@pytest.mark.parametrize("secret", ["acme rockets", "acme<i> rock</i>ets", "acme\n\nrockets"])
def test_what_is_no_secret_in_parts_is_cleaned_before_it_is_cut(secret: str, after: int) -> None:
    """Of a secret that is made of words no part can be told from any text, once it is cut."""
    for body in (json.dumps({"error": "x" * after + secret}).encode(), b"x" * after + secret.encode()):
        outcome = parse_response(ParsedAnswer(400, {}, body), "m", 0.0, REDACT)
        assert "acm" not in outcome.sentence
    outcome = parse_response(ParsedAnswer(502, {}, b"x" * (19_805 + after) + secret.encode()), "m", 0.0, REDACT)
    assert isinstance(outcome, Failure)
    assert "acm" not in outcome.raw


MADE_UP = {
    "an Anthropic API key": "sk-ant-api03-" + "a1B2_" * 6,
    "an OpenAI API key": "sk-proj-" + "a1B2" * 8,
    "an AWS access key": "AKIA" + "QUINCE12" * 2,
    "a GitHub token": "ghp_" + "a1B2" * 9,
    "a GitLab token": "glpat-" + "a1B2" * 5,
    "a Hugging Face token": "hf_" + "aBcD" * 9,
    "a Slack token": "xoxb-" + "1234-" * 4,
    "a Google API key": "AIza" + "a1B2_" * 7,
    "a Stripe key": "sk_live_" + "a1B2" * 6,
    "an npm token": "npm_" + "a1B2" * 9,
    "a PyPI token": "pypi-AgE" + "a1B2" * 15,
    "a JSON Web Token": f"eyJ{'a1B2' * 4}.eyJ{'a1B2' * 4}.{'a1B2' * 6}",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\na1B2\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize(("kind", "key"), MADE_UP.items())
@pytest.mark.parametrize("before", ["", "KEY=", '"', "printed\\n", "\\u001f", "\x1b[1;31m"])
def test_a_key_is_found_wherever_it_begins_and_taken_out_whole(kind: str, key: str, before: str) -> None:
    text = f"It says {before}{key} and goes on."
    assert [result.kind for result in keys_in(text)] == [kind]
    assert without_keys(text) == f"It says {before}{SHOWN_INSTEAD} and goes on."


def test_of_an_address_the_login_alone_is_taken_out() -> None:
    text = "It opens postgres://ann:quince7@db.example.org/orchard."
    assert [result.kind for result in keys_in(text)] == ["a password in an address"]
    assert without_keys(text) == f"It opens postgres://{SHOWN_INSTEAD}@db.example.org/orchard."


@pytest.mark.parametrize(
    "text",
    [
        "a task-manager-with-a-very-long-name-2",
        "sk-learn-pipelines-and-their-steps",
        "the file hf_token.py",
        "https://example.org:8080/path@2",
        "AKIA is how it begins",
        "-----BEGIN CERTIFICATE-----",
        "ghp_short",
    ],
)
def test_other_text_has_no_key(text: str) -> None:
    assert (list(keys_in(text)), without_keys(text)) == ([], text)
