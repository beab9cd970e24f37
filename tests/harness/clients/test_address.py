"""Where to ask and what goes there: a key goes to nobody whom the person has not named."""

import pytest

from misstep_harness.clients.address import OPENAI, address_and_key, header_fields, unencrypted
from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.redaction import Redaction, secrets

KEY = {"OPENAI_API_KEY": "sk-0123456789abcdef"}
THERE = "https://models.invalid/v1"


def test_openais_own_address_needs_a_key_and_another_does_not() -> None:
    assert address_and_key(None, {"OPENAI_API_KEY": " sk-1 "}) == (OPENAI, "sk-1")
    assert address_and_key(None, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}) == ("http://127.0.0.1:1/v1", "")
    with pytest.raises(MissingPrerequisite, match="OPENAI_API_KEY"):
        address_and_key(None, {})


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8000/v1",
        "ftp://127.0.0.1/v1",
        "http://",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
        "http://127.0.0.1/v 1",
        "https://me:secret@127.0.0.1/v1",
        "secret@127.0.0.1:8000",
        "https://127.0.0.1/v1?key=secret",
    ],
)
def test_what_is_no_address_is_said_before_anything_is_sent_and_without_a_password(address: str) -> None:
    with pytest.raises(UsageError, match="address of") as said:
        address_and_key(None, {"OPENAI_BASE_URL": address})
    assert "secret" not in said.value.line()


@pytest.mark.parametrize("key", ["sk-01\n23", "sk-ä", "sk-\x7f"])
def test_a_key_that_no_header_can_hold_is_said_and_not_shown(key: str) -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY") as said:
        address_and_key("http://127.0.0.1:1/v1", {"OPENAI_API_KEY": key})
    assert "sk-" not in said.value.line()


@pytest.mark.parametrize(
    "sent",
    [
        KEY,
        {"OPENAI_ORG_ID": "org-0123456789"},
        {"OPENAI_PROJECT_ID": "proj_0123456789"},
        {"OPENAI_CUSTOM_HEADERS": "X-Token: 0123456789"},
        KEY | {"OPENAI_BASE_URL": "https://elsewhere.invalid/v1"},
    ],
)
@pytest.mark.parametrize("address", [THERE, "http://127.0.0.1:1/v1", "https://api.openai.com.invalid/v1"])
def test_nothing_secret_goes_to_an_address_that_a_file_names(sent: dict[str, str], address: str) -> None:
    with pytest.raises(UsageError, match=f"--base-url {address} if they are meant for it") as said:
        address_and_key(address, sent, named=False)
    assert "0123456789" not in said.value.line()


def test_an_address_of_a_file_is_asked_where_nothing_secret_is_sent_or_the_person_names_it_too() -> None:
    assert address_and_key(THERE, {}, named=False) == (THERE, "")
    assert address_and_key(THERE, KEY, named=True)[0] == THERE
    assert address_and_key(THERE, KEY | {"OPENAI_BASE_URL": THERE}, named=False)[0] == THERE
    assert address_and_key(OPENAI, KEY, named=False)[0] == OPENAI
    assert address_and_key(None, KEY | {"OPENAI_BASE_URL": THERE})[0] == THERE


@pytest.mark.parametrize(
    ("address", "sent", "text"),
    [
        ("http://10.0.0.7:8000/v1", KEY, "OPENAI_API_KEY and all questions go to 10.0.0.7:8000 unencrypted"),
        ("http://localhost.invalid/v1", KEY, "go to localhost.invalid unencrypted"),
        ("HTTP://models.invalid/v1", {"OPENAI_CUSTOM_HEADERS": "X-Token: 0123456789"}, "OPENAI_CUSTOM_HEADERS"),
        ("http://10.0.0.7:8000/v1", {}, ""),
        ("https://models.invalid/v1", KEY, ""),
        ("http://127.0.0.2:8000/v1", KEY, ""),
        ("http://[::1]:8000/v1", KEY, ""),
        ("http://localhost:8000/v1", KEY, ""),
    ],
)
def test_what_goes_over_plain_http_off_this_machine_is_said(address: str, sent: dict[str, str], text: str) -> None:
    sentence = unencrypted(address, sent)
    assert text in sentence
    assert bool(sentence) == bool(text)
    assert unencrypted(None, sent | {"OPENAI_BASE_URL": address}) == sentence


@pytest.mark.parametrize("custom", ["X Token: 1", "X-Token: a\x00b", "X-T\u00f6ken: 1", ": 1"])
def test_what_is_no_header_field_is_said_and_not_shown(custom: str) -> None:
    with pytest.raises(UsageError, match="OPENAI_CUSTOM_HEADERS has a line that is not a header field") as said:
        address_and_key(THERE, {"OPENAI_CUSTOM_HEADERS": custom})
    assert custom not in said.value.line()


def test_header_fields_of_the_environment_come_before_ours() -> None:
    custom = "authorization: Basic bWU6aHVudGVyMg==\nX-Tenant: acme\nContent-Length: 7\nno field"
    environment = {"OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-1", "OPENAI_CUSTOM_HEADERS": custom}
    assert header_fields("sk-1", environment) == {
        "authorization": "Basic bWU6aHVudGVyMg==",
        "Content-Type": "application/json",
        "OpenAI-Organization": "org-1",
        "OpenAI-Project": "proj-1",
        "X-Tenant": "acme",
    }
    assert {"org-1", "proj-1", "bWU6aHVudGVyMg==", "me:hunter2", "hunter2", "acme"} <= set(secrets(environment))


@pytest.mark.parametrize(
    "field",
    [
        "X-Team: platform",
        "X-Team: Platform Engineering",
        "X-Environment: production",
        "X-Title: Judge evaluation (nightly)",
        "X-Product: JudgeBench",
        "HTTP-Referer: https://example.com/agents",
        "X-Api-Version: 2024-10-21",
        "Accept: application/json",
        "X-Team: Qualität",
    ],
)
def test_an_ordinary_word_in_a_header_field_is_no_secret(field: str) -> None:
    answer = f"The {field.partition(': ')[2]} is right."
    assert Redaction("sk-0123456789", secrets({"OPENAI_CUSTOM_HEADERS": field}))(answer) == answer


@pytest.mark.parametrize(
    ("field", "hidden"),
    [
        ("Authorization: Bearer platform", "platform"),
        ("X-Api-Key: platform", "platform"),
        ("X-Auth-Token: platform", "platform"),
        ("Cookie: session=platform; theme=midnight", "platform"),
        ("Proxy-Authorization: Basic bWU6cGxhdGZvcm0=", "platform"),
        ("X-Gateway-Secret: open sesame", "open sesame"),
        ("OpenAI-Organization: platform", "platform"),
        ("X-Meta: team=search; token=platform", "platform"),
        ("X-Gate: correct-horse-battery-staple", "correct-horse-battery-staple"),
        ("X-Gate: hunter2!hunter2", "hunter2!hunter2"),
        ("X-Gate: kJhGtRwqPLmZxcvB", "kJhGtRwqPLmZxcvB"),
        ("X-Gate: wqzrtplkmnbvcxs", "wqzrtplkmnbvcxs"),
        ("X-Gate: aoeuidhtnsaoeuidhtns", "aoeuidhtnsaoeuidhtns"),
        ("X-Gate: 48151623", "48151623"),
        ("X-Gate: prod-5Fj8Wn3Q", "prod-5Fj8Wn3Q"),
        ("X-Gate: https://me:platform@example.com", "https://me:platform@example.com"),
    ],
)
def test_what_lets_somebody_in_is_a_secret_whatever_it_looks_like(field: str, hidden: str) -> None:
    redact = Redaction("sk-0123456789", secrets({"OPENAI_CUSTOM_HEADERS": field}))
    assert redact(f"you sent {hidden} to us") == "you sent [secret] to us"


@pytest.mark.parametrize("name", ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID"])
def test_an_organisation_and_a_project_are_secrets_though_they_are_words(name: str) -> None:
    assert Redaction("sk-0123456789", secrets({name: "platform"}))("of platform") == "of [secret]"
