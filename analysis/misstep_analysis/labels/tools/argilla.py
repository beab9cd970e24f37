"""Argilla's exports: a record an object, with the responses of its users to each question.

Responses are in one of four ways: `responses` as question → list of `value` and `user_id` (`records.to_json`);
`responses` as a list of users with their `values` (the server's API and version 1); in columns `QUESTION.responses`,
`QUESTION.responses.users` and `QUESTION.responses.status` (`records.to_datasets`); and, in a data set of version 1,
under the question's own name. Responses with a status other than submitted are left out, and so are suggestions.

Sources: https://docs.argilla.io/latest/how_to_guides/import_export/,
https://docs.argilla.io/latest/reference/argilla/records/responses/, https://github.com/argilla-io/argilla
(records/_resource.py).
"""

from collections.abc import Iterator
from typing import Any

from misstep_analysis.labels.records import LabelRecords, label_text
from misstep_analysis.labels.tools.ratings import ToolRatings

_COLUMN = ".responses"
_SUGGESTED = "-suggestion-metadata"
"""Beside each question of a data set of version 1, whether or not a record is answered."""

_SUBMITTED = ("submitted", "None", "")

Response = tuple[str, Any, Any, Any, Any]
"""Question, value, user, status, time."""


def is_own(record: dict[str, Any]) -> bool:
    """Return whether an object has responses in one of the four ways."""
    if isinstance(record.get("responses"), dict | list) and ("fields" in record or "suggestions" in record):
        return True
    answered = any(name.endswith(f"{_COLUMN}.users") for name in record) or any(map(_is_answered, record.values()))
    return answered or any(name + _SUGGESTED in record for name in record)


def ratings(records: LabelRecords, item_field: str = "") -> ToolRatings:
    """Return the submitted responses."""
    result = ToolRatings("Argilla", records, item_field)
    for place, record in zip(records.places, records.values, strict=True):
        named = (record[name] for name in ("external_id", "id", "_server_id") if record.get(name) is not None)
        item = result.item(place, record, next(named, place))
        for question, value, user, status, time in _responses(record):
            label = label_text(value)
            if str(status) not in _SUBMITTED:
                result.left_out["responses that were not submitted"] += 1
            elif label is None:
                result.left_out["responses that are rankings or spans"] += 1
            else:
                result.add(place, item, user, question, label, time)
    return result


def _responses(record: dict[str, Any]) -> Iterator[Response]:
    answers = record.get("responses")
    if isinstance(answers, dict):
        for question, responses in answers.items():
            yield from _answers(question, responses)
    elif isinstance(answers, list):
        for response in answers:
            if isinstance(response, dict) and isinstance(response.get("values"), dict):
                who = (response.get("user_id"), response.get("status"), response.get("updated_at"))
                for question, value in response["values"].items():
                    yield (question, value.get("value") if isinstance(value, dict) else value, *who)
    for name, value in record.items():
        if name.endswith(_COLUMN) and isinstance(value, list):
            users, status = (_beside(record.get(f"{name}.{part}"), value) for part in ("users", "status"))
            for answer, user, state in zip(value, users, status, strict=True):
                yield name.removesuffix(_COLUMN), answer, user, state, None
        elif _is_answered(value):
            yield from _answers(name, value)


def _answers(question: str, responses: Any) -> Iterator[Response]:
    for response in responses if isinstance(responses, list) else ():
        if isinstance(response, dict):
            yield (
                question,
                response.get("value"),
                response.get("user_id"),
                response.get("status"),
                response.get("updated_at"),
            )


def _beside(column: Any, answers: list[Any]) -> list[Any]:
    return column if isinstance(column, list) and len(column) == len(answers) else [None] * len(answers)


def _is_answered(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(part, dict) and {"user_id", "value"} <= part.keys() for part in value)
    )
