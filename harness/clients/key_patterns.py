"""Keys and tokens of well-known services, told by the form that the service gives them.

Sources of the forms: https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github,
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, https://docs.gitlab.com/security/tokens/,
https://api.slack.com/concepts/token-types, https://docs.stripe.com/keys, https://huggingface.co/docs/hub/security-tokens,
https://docs.npmjs.com/about-access-tokens, RFC 7468 (private keys), RFC 7519 (JSON Web Tokens), RFC 3986 (addresses).
"""

import re
from collections.abc import Iterator

from msgspec import Struct

SHOWN_INSTEAD = "[secret]"

_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""Where a key may begin: not within a word, but behind an escaped line end."""

_KINDS = {
    "an Anthropic API key": r"sk-ant-[\w-]{20,}",
    "an OpenAI API key": r"sk-(?=[a-zA-Z_-]{0,64}\d)[\w-]{20,}",
    "an AWS access key": r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])",
    "a GitHub token": r"(?:gh[opsru]_[A-Za-z0-9]{36,}|github_pat_\w{22,})",
    "a GitLab token": r"glpat-[\w-]{20,}",
    "a Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "a Slack token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a Google API key": r"AIza[\w-]{35}",
    "a Stripe key": r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "an npm token": r"npm_[A-Za-z0-9]{36}",
    "a PyPI token": r"pypi-AgE[\w-]{50,}",
    "a JSON Web Token": r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
    "a password in an address": r"(?<=://)[^\s:/@]{1,100}:[^\s/@:]{3,100}(?=@)",
    "a private key": (
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----(?:(?!-----)[\s\S])*+(?:-----END [A-Z ]{0,50}-----)?"
    ),
}
_NAMES = list(_KINDS)
_ANY = "|".join(f"({_START}{pattern})" for pattern in _KINDS.values())
_KEY = re.compile(_ANY)


class FoundKey(Struct, frozen=True):
    """A key in a text: its kind, and where it begins and ends."""

    kind: str
    start: int
    end: int


def keys_in(text: str) -> Iterator[FoundKey]:
    """The keys in a text, in order."""
    for match in _KEY.finditer(text):
        yield FoundKey(_NAMES[(match.lastindex or 1) - 1], match.start(), match.end())


def without_keys(text: str) -> str:
    """The text with `[secret]` in the place of each key."""
    return _KEY.sub(SHOWN_INSTEAD, text)
