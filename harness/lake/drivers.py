"""Drivers of stores: which one reads an address, and what it says no to, in our words.

What a driver says may hold an address that is signed, or a key: of its errors only the kind is told.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from misstep.harness.errors import InputError, MissingPrerequisite, MisstepError, UsageError, is_full
from misstep.harness.redirects import redirected

_DENIED = (401, 403)
_MISSING = (404, 410)
_NOT_FOUND_OR_PRIVATE = "RepositoryNotFoundError"
"""What the Hugging Face hub says of a data set that is not there or private, which it does not tell apart."""


def missing_lake(what: str) -> MissingPrerequisite:
    """Return the error for a package of the extra `lake` that is not installed."""
    return MissingPrerequisite(f"{what} needs a package that is not installed", "Run `pip install 'misstep[lake]'`.")


def opened(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    try:
        from fsspec import available_protocols
        from fsspec.core import url_to_fs
        from fsspec.registry import known_implementations
    except ImportError as error:
        raise missing_lake(f"the address {address}") from error
    scheme = address.partition("://")[0]
    known = known_implementations.get(scheme)
    if scheme not in available_protocols():
        raise UsageError(f"{address}: no file system {scheme}:// is known", "Give one such as s3://bucket/folder.")
    options = {"client_kwargs": {"trace_configs": [_checked_redirects()]}} if scheme in ("http", "https") else {}
    try:
        system, path = url_to_fs(address, **options)
    except ImportError as error:
        package = (known or {}).get("class", scheme).partition(".")[0]
        needed = error.name if package == "fsspec" and error.name else package
        lacks = f"{address} needs the driver {needed}, which is not installed"
        raise MissingPrerequisite(lacks, f"Run `pip install {needed}`.") from error
    return system, path


@cache
def _checked_redirects() -> Any:
    """Return what looks at each redirect before aiohttp follows it."""
    from aiohttp import TraceConfig

    async def check(_: object, __: object, about: Any) -> None:
        location = about.response.headers.get("Location") or about.response.headers.get("URI") or ""
        redirected(str(about.response.url), location)

    config = TraceConfig()
    config.on_request_redirect.append(check)
    return config


@contextmanager
def reaching(address: str) -> Iterator[None]:
    """Turn whatever a driver raises inside into one of our errors."""
    try:
        yield
    except MisstepError:
        raise
    except Exception as error:  # a driver may raise anything
        if (refused := _own_error(error)) is not None:
            raise refused from error
        if isinstance(error, OSError) and is_full(error):
            raise
        raise _in_our_words(address, error) from error


def _in_our_words(address: str, error: Exception) -> MisstepError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    missing = isinstance(error, FileNotFoundError) or status in _MISSING or _kind(error) == _NOT_FOUND_OR_PRIVATE
    login = _LOGIN.get(address.partition("://")[0])
    if missing and not _is_cut_off(error):
        advice = "Check it." if login is None else f"Check it. If it is private, {login}."
        return InputError("there is nothing at this address", advice, file=address)
    if isinstance(error, PermissionError) or status in _DENIED or "Credentials" in _kind(error):
        advice = "Check what the driver takes your key from." if login is None else f"To log in, {login}."
        return MissingPrerequisite(f"{address}: access is denied", advice)
    reason = _kind(error) if status is None else f"{_kind(error)}, status {status}"
    return MissingPrerequisite(f"{address} cannot be reached ({reason})", "Check the network and the address.")


def _is_cut_off(error: BaseException | None) -> bool:
    """Return whether it is the network that failed; a driver may take that for a file that is not there."""
    while error is not None:
        is_answer = isinstance(error, FileNotFoundError | PermissionError) or hasattr(error, "response")
        if isinstance(error, OSError) and not is_answer:
            return True
        error = error.__cause__ or error.__context__
    return False


def _own_error(error: BaseException | None) -> MisstepError | None:
    while error is not None and not isinstance(error, MisstepError):
        error = error.__cause__ or error.__context__
    return error


def _kind(error: BaseException) -> str:
    return type(error).__name__


_LOGIN = {
    "hf": "run `hf auth login`, or set HF_TOKEN",
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "run `gcloud auth application-default login`",
}
"""How to log in to a store, by scheme."""
