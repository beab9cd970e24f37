"""Keys and tokens of well-known services, told by the form that the service gives them.

Sources of the forms: https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github,
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, https://docs.gitlab.com/security/tokens/,
https://api.slack.com/concepts/token-types, https://docs.stripe.com/keys, https://huggingface.co/docs/hub/security-tokens,
https://docs.npmjs.com/about-access-tokens, RFC 7468 (private keys), RFC 7519 (JSON Web Tokens), RFC 3986 (addresses).
"""

import re

from msgspec import Struct

SHOWN_INSTEAD = "[secret]"

_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt])|(?<=\\u00[01][0-9a-f])|(?<=[\d;\[]m))"
"""Where a key may begin: not within a word, but behind an escaped control code and behind the code of a colour."""

_Kind = tuple[str, tuple[str, ...], re.Pattern[str]]

_KINDS: tuple[_Kind, ...] = (
    ("an Anthropic API key", ("sk-ant-",), re.compile(_START + r"sk-ant-[\w-]{20,}")),
    ("an OpenAI API key", ("sk-",), re.compile(_START + r"sk-(?!ant-)(?=[a-zA-Z_-]{0,64}\d)[\w-]{20,}")),
    ("an AWS access key", ("AKIA", "ASIA"), re.compile(_START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])")),
    (
        "a GitHub token",
        ("ghp_", "gho_", "ghs_", "ghr_", "ghu_", "github_pat_"),
        re.compile(_START + r"(?:gh[opsru]_[A-Za-z0-9]{36,}|github_pat_\w{22,})"),
    ),
    ("a GitLab token", ("glpat-",), re.compile(_START + r"glpat-[\w-]{20,}")),
    ("a Hugging Face token", ("hf_",), re.compile(_START + r"hf_[A-Za-z0-9]{30,}")),
    ("a Slack token", ("xox",), re.compile(_START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}")),
    ("a Google API key", ("AIza",), re.compile(_START + r"AIza[\w-]{35}")),
    ("a Stripe key", ("k_live_", "k_test_"), re.compile(_START + r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    ("an npm token", ("npm_",), re.compile(_START + r"npm_[A-Za-z0-9]{36}")),
    ("a PyPI token", ("pypi-AgE",), re.compile(_START + r"pypi-AgE[\w-]{50,}")),
    ("a JSON Web Token", ("eyJ",), re.compile(_START + r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}")),
    ("a password in an address", ("://",), re.compile(r"(?<=://)[^\s:/@]{1,100}:[^\s/@:]{3,100}(?=@)")),
    (
        "a private key",
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----(?:(?!-----)[\s\S])*+(?:-----END [A-Z ]{0,50}-----)?"
        ),
    ),
)
"""Each kind with what is in every key of it, and its form: a text without the former is not searched further."""


class FoundKey(Struct, frozen=True):
    """A key in a text: its kind, and where it begins and ends."""

    kind: str
    start: int
    end: int


def keys_in(text: str) -> list[FoundKey]:
    """Return the keys in a text, in order."""
    keys = [
        FoundKey(name, match.start(), match.end())
        for name, openings, form in _KINDS
        if any(opening in text for opening in openings)
        for match in form.finditer(text)
    ]
    return sorted(keys, key=lambda key: key.start)


def without_keys(text: str) -> str:
    """Return the text with `[secret]` in the place of each key."""
    for _, openings, form in _KINDS:
        if any(opening in text for opening in openings):
            text = form.sub(SHOWN_INSTEAD, text)
    return text
