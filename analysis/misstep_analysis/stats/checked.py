"""Input of statistics, refused where it cannot be what it is taken for: the value that is wrong is named.

numpy would cut 1.5 to 1, take the text "no" for true and let NaN through; a name that is not known would fall to
whatever comes last. A figure from such input looks like any other.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_harness.errors import UsageError

BoolArray = npt.NDArray[np.bool_]

_MOST = 2**53
"""Up to here every whole number is exact as a float."""


def whole_numbers(values: npt.ArrayLike, what: str) -> IntArray:
    """Return the values as whole numbers.

    Parameters
    ----------
    values
        Of any shape.
    what
        What one of them is, with its article, as in “a count”.

    Raises
    ------
    UsageError
        One is missing, is not a whole number or is none at all.
    """
    array = _array(values, what)
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    rounded = _numbers(array, what)
    wrong = rounded[~(np.abs(rounded) <= _MOST) | (rounded != np.rint(rounded))]
    if len(wrong):
        raise UsageError(f"{what} of {wrong.flat[0]:g}", "It must be a whole number.")
    return rounded.astype(np.int64)


def counts(values: npt.ArrayLike, what: str = "a count") -> IntArray:
    """Return the values as whole numbers from 0; raises as `whole_numbers`, and where one is below 0."""
    whole = whole_numbers(values, what)
    if whole.size and whole.min() < 0:
        raise UsageError(f"{what} of {int(whole.min())}", "It must not be below 0.")
    return whole


def finite(values: npt.ArrayLike, what: str) -> FloatArray:
    """Return the values as finite numbers.

    Parameters
    ----------
    what
        What one of them is, with its article.

    Raises
    ------
    UsageError
        One is missing, infinite or no number.
    """
    array = numbers(values, what)
    wrong = array[np.isinf(array)]
    if len(wrong):
        raise UsageError(f"{what} of {wrong.flat[0]:g}", "It must be a finite number.")
    return array


def numbers(values: npt.ArrayLike, what: str) -> FloatArray:
    """The values as numbers, endless ones among them, which have a rank; raises `UsageError` where one is missing."""
    array = _numbers(_array(values, what), what)
    if np.isnan(array).any():
        raise UsageError(f"a missing value where {what} stands", "Leave the item out and say so.")
    return array


def yes_or_no(values: npt.ArrayLike, what: str) -> BoolArray:
    """Return the values, each true or false, or 1 or 0; raises `UsageError` with any other, missing ones included."""
    array = _array(values, what)
    if array.dtype.kind == "b":
        return array.astype(np.bool_)
    flags = numbers(array, what)
    wrong = flags[(flags != 0) & (flags != 1)]
    if len(wrong):
        raise UsageError(f"{what} of {wrong.flat[0]:g}", "It is yes or no: true or false, 1 or 0.")
    return flags.astype(np.bool_)


def known(name: str | int, names: Collection[str | int], what: str) -> None:
    """Refuse a name that is none of those known.

    Raises
    ------
    UsageError
        It is none of them.
    """
    if name not in names:
        raise UsageError(f"no {what} {name!r}", f"There are {', '.join(map(repr, names))}.")


def _array(values: npt.ArrayLike, what: str) -> npt.NDArray[np.generic]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise UsageError(f"rows of unequal length where {what} stands each time", "Fill in what is missing.") from error


def _numbers(values: npt.NDArray[np.generic], what: str) -> FloatArray:
    if values.dtype.kind in "USOM":
        for value in values.ravel().tolist():
            if not isinstance(value, int | float):
                raise UsageError(f"{what} of {value!r}", "It must be a number.")
    return values.astype(np.float64)
