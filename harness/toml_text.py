"""Values to TOML text: the standard library reads TOML and does not write it."""

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def to_toml(values: Mapping[str, Any]) -> str:
    """Strings, numbers, truth values and lists of them, then one level of tables of them, as TOML.

    A JSON string is a TOML basic string, but for U+007F, which TOML wants escaped.
    """
    plain = "".join(_line(key, value) for key, value in values.items() if not isinstance(value, Mapping))
    tables = (
        f"\n[{_key(name)}]\n" + "".join(_line(key, value) for key, value in table.items())
        for name, table in values.items()
        if isinstance(table, Mapping)
    )
    return plain + "".join(tables)


def _line(key: str, value: Any) -> str:
    return f"{_key(key)} = {_scalar(value)}\n"


def _key(key: str) -> str:
    return key if _BARE_KEY.match(key) else _scalar(key)


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
