"""The forms of JSON documents, declared by the types of the results, and their JSON Schema."""

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

import msgspec
from msgspec import Struct, structs

from misstep_analysis.pages.form_text import told_fields

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Form = Any
"""A type; an object as name → form, with `?` behind a name that may be missing, `*` for all other names; `[form]` of a
list; a tuple of forms of which a document has one."""


def fields_of(kind: type[Struct], *without: str) -> dict[str, Form]:
    """Return the fields of a type as those of an object, for documents with more or fewer of them."""
    own = [one for one in structs.fields(kind) if one.encode_name not in without]
    return {one.encode_name if one.required else f"{one.encode_name}?": one.type for one in own}


def optional(form: dict[str, Form]) -> dict[str, Form]:
    """Return an object whose members may all be missing."""
    return {f"{name.removesuffix('?')}?": inner for name, inner in form.items()}


def json_schema(form: Form, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a form."""
    types = list(dict.fromkeys(_types(form)))
    schemas, named = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    body = _schema(form, dict(zip(types, schemas, strict=True)))
    for definition in named.values():
        _describe(definition)
    return {"$schema": DIALECT, "title": title, **body, "$defs": named}


def _describe(definition: dict[str, Any]) -> None:
    """Put the meaning of each field, which the docstring of its type lists, beside the field."""
    about, meanings = told_fields(cleandoc(definition.get("description", "")))
    definition["description"] = " ".join(about.split())
    for name in meanings.keys() & definition.get("properties", {}).keys():
        definition["properties"][name]["description"] = meanings[name]


def _types(form: Form) -> Iterator[Any]:
    """List the types in a form."""
    if isinstance(form, dict | list | tuple):
        for inner in form.values() if isinstance(form, dict) else form:
            yield from _types(inner)
    else:
        yield form


def _schema(form: Form, of_types: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    if isinstance(form, dict):
        members = {name.removesuffix("?"): _schema(inner, of_types) for name, inner in form.items()}
        others = {"additionalProperties": members.pop("*")} if "*" in members else {}
        required = [name for name in members if name in form]
        return {"type": "object", "properties": members, "required": required, **others}
    if isinstance(form, list):
        return {"type": "array", "items": _schema(form[0], of_types)}
    if isinstance(form, tuple):
        return {"anyOf": [_schema(inner, of_types) for inner in form]}
    return of_types[form]
