"""Conditions on the columns of a packed folder."""

import pyarrow as pa
import pytest

from misstep.harness.errors import UsageError
from misstep.harness.lake.where import condition

TABLE = pa.table(
    {
        "id": pa.array(["a", "b", "c", "o'd"]),
        "model": pa.array(["x", "y", None, "x"]),
        "n_steps": pa.array([10, 60, 70, 80]),
        "time": pa.array([0.5, 1.5, None, 3.0]),
        "success": pa.array([True, False, None, False]),
    }
)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("model = 'x' and n_steps > 50", ["o'd"]),
        ("model = 'x' or model = 'y' and n_steps < 20", ["a", "o'd"]),
        ("(model = 'x' or model = 'y') and n_steps <= 60", ["a", "b"]),
        ("not success = false and n_steps >= 10", ["a"]),
        ("NOT (model IS NULL) AND time != 1.5", ["a", "o'd"]),
        ("success is null", ["c"]),
        ("success is not null and time<2", ["a", "b"]),
        ("id='o''d'", ["o'd"]),
        ("n_steps = -1 or n_steps = 7e1", ["c"]),
    ],
)
def test_a_condition_keeps_the_rows_that_sql_would(where: str, ids: list[str]) -> None:
    assert TABLE.filter(condition(where, TABLE.schema))["id"].to_pylist() == ids


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("modell = 'x'", "unknown column 'modell'; known are id, model"),
        ("model = x", "'x' is where a literal must be"),
        ('model = "x"', "is not a column, operator or literal"),
        ("n_steps = 'x'", "n_steps holds int64, and 'x' is not"),
        ("success = 1", "success holds bool, and 1 is not"),
        ("n_steps >", "it ends where a literal must follow"),
        ("n_steps > 5 n_steps < 7", "'n_steps' is where `and`, `or` or the end must be"),
        ("(n_steps > 5", "it ends where ')' must follow"),
        ("n_steps like 5", "'like' is where one of"),
        ("n_steps = 1.2.3", "'1.2.3' is not a number"),
        ("'x' = model", "is where a column must be"),
        ("__import__('os')", "unknown column '__import__'"),
        ("(" * 5000, "its parentheses are too deep"),
    ],
)
def test_anything_else_is_refused_and_never_evaluated(where: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        condition(where, TABLE.schema)
    assert why in refused.value.found
