"""Keys of well-known services are told by their form, and words that look a little like them are not."""

import pytest

from misstep_harness.clients.key_patterns import SHOWN_INSTEAD, keys_in, without_keys

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
def test_other_text_is_none(text: str) -> None:
    assert (list(keys_in(text)), without_keys(text)) == ([], text)
