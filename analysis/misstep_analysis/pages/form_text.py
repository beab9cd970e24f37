"""The form of a file as text: its keys with valid values, defaults and meanings, read from the type itself.

The meaning of a key is its entry in the list of fields of the type's docstring.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec import inspect as types

from misstep_harness.forms import WORDS, values_of

_WIDTH = 96
_SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
_FIELDS = re.compile(r"^- (`\w+`(?:, `\w+`)*): (.*(?:\n  .*)*)\n?", re.MULTILINE)


def form_text(form: type[Any]) -> str:
    """Return the page of a form: what it is, each key, those of the tables in it, and the examples of its docstring."""
    sections = docstring_sections(form)
    opening = [textwrap.fill(" ".join(part.split()), _WIDTH) for part in sections[""].split("\n\n") if part.strip()]
    parts = [*opening, "\n".join(_keys(form))]
    parts += [f"{title}\n" + "\n".join(_keys(table)) for table, title in _tables(form)]
    if example := sections.get("Examples", ""):
        parts.append("For example\n\n" + textwrap.indent(textwrap.dedent(example).strip("\n"), "  "))
    return "\n\n".join(parts)


def members_text(protocol: type[Any]) -> str:
    """Return the members that a class must have to follow a protocol, each as it is written, with its meaning."""
    lines: list[str] = []
    for name, member in vars(protocol).items():
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        arguments = [each for each in inspect.signature(function).parameters if each != "self"]
        awaited = "async " if inspect.iscoroutinefunction(function) else ""
        signature = name if isinstance(member, property) else f"{awaited}{name}({', '.join(arguments)})"
        meaning = " ".join(docstring_sections(function)[""].split())
        lines += [f"  {signature}", textwrap.fill(meaning, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)]
    return "\n".join(lines)


def meanings(form: type[Any]) -> dict[str, str]:
    """Return field → its meaning in the docstring of a struct or of one that it extends."""
    texts: dict[str, str] = {}
    for ancestor in reversed(form.__mro__):
        texts |= told_fields(_docstring(ancestor))[1]
    return texts


def told_fields(docstring: str) -> tuple[str, dict[str, str]]:
    """Return a clean docstring without its list of fields, and field → its meaning there."""
    texts: dict[str, str] = {}
    for names, text in _FIELDS.findall(docstring):
        texts |= {name.strip("`"): " ".join(text.split()) for name in names.split(", ")}
    return _FIELDS.sub("", docstring), texts


def docstring_sections(form: Any) -> dict[str, str]:
    """Return heading → text of a docstring; the text before the first heading, without its fields, is under ``""``."""
    first, *rest = _SECTION.split(_docstring(form))
    return {"": _FIELDS.sub("", first)} | dict(zip(rest[::2], rest[1::2], strict=True))


def _docstring(form: Any) -> str:
    """Return the docstring that a type or function has itself, without those that it inherits."""
    own = form.__doc__ if inspect.isfunction(form) else vars(form).get("__doc__")
    return inspect.cleandoc(own or "")


def _keys(form: type[Any]) -> Iterator[str]:
    fields = _struct(form).fields
    texts = meanings(form)
    width = max(len(field.encode_name) for field in fields)
    for field in fields:
        indent = " " * (width + 4)
        values = values_of(field.type) or [_word(alternative) for alternative in _alternatives(field.type)]
        yield f"  {field.encode_name:{width}}  {_either(values)}; {_default(field)}"
        yield textwrap.fill(texts[field.name], _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _struct(form: type[Any]) -> types.StructType:
    return cast("types.StructType", types.type_info(form))


def _tables(form: type[Any]) -> list[tuple[type[Any], str]]:
    keys: dict[type[Any], list[str]] = {}
    for field in _struct(form).fields:
        for kind in _alternatives(field.type):
            inner = kind.item_type if isinstance(kind, types.VarTupleType | types.ListType) else kind
            if isinstance(inner, types.StructType):
                shown = f"[{field.encode_name}]" if inner is kind else f"[[{field.encode_name}]]"
                keys.setdefault(inner.cls, []).append(shown)
    return [(table, f"The keys of {' and '.join(names)}") for table, names in keys.items()]


def _alternatives(kind: types.Type) -> tuple[types.Type, ...]:
    kinds = kind.types if isinstance(kind, types.UnionType) else (kind,)
    return tuple(member for member in kinds if not isinstance(member, types.NoneType))


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _word(kind: types.Type) -> str:
    if isinstance(kind, types.VarTupleType | types.ListType):
        values = values_of(kind.item_type)
        return f"a list of {_either(values) if values else _PLURALS[type(kind.item_type)]}"
    return WORDS[_MSGSPEC_NAMES[type(kind)]]


def _default(field: types.Field) -> str:
    if field.required:
        return "required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if value is None or (
        not isinstance(value, bool | int | float) and (not value or isinstance(value, msgspec.Struct))
    ):
        return "optional"
    shown = str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else f"{value:,g}"
    return f"by default {shown}"


_MSGSPEC_NAMES: dict[type[types.Type], str] = {
    types.StrType: "str",
    types.IntType: "int",
    types.FloatType: "float",
    types.BoolType: "bool",
    types.DateType: "date",
    types.DictType: "object",
    types.StructType: "object",
}
_PLURALS: dict[type[types.Type], str] = {
    types.StrType: "texts",
    types.IntType: "whole numbers",
    types.StructType: "tables",
}
