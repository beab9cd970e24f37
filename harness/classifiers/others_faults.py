"""What comes between an agent and its call through no fault of the agent's: the network, a service, a person."""

import re

from harness.classifiers.prose import has

_ENVIRONMENT = re.compile(
    r"connection (?:refused|reset|timed out|error|aborted)|timed? ?out|timeout|temporary failure|could not resolve"
    r"|network (?:is )?(?:unreachable|error|down)|no space left|out of memory|cannot allocate|quota|rate limit"
    r"|too many requests|service unavailable|bad gateway|internal server error|permission denied|read-only file system"
    r"|\b(?:502|503|504|429)\b|deadlock|could not get lock|resource temporarily|overloaded|"
    r"econnrefused|enotfound|etimedout",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"user (?:doesn't|does not|rejected|denied|declined|cancell?ed|interrupted)|rejected by (?:the )?user"
    r"|requires approval|request interrupted|operation (?:was )?cancell?ed|permission to use",
    re.IGNORECASE,
)
_DECLINED_PIECES = ("user ", "rejected by", "requires approval", "interrupted", "cancel", "permission to use")
"""Pieces of which an answer has at least one where `_DECLINED` matches."""


def of_the_environment(head: str) -> bool:
    """Whether the network, the disk or a service did not do its part."""
    return _ENVIRONMENT.search(head) is not None


def declined(head: str) -> bool:
    """Whether somebody would not let the call happen."""
    return has(head.lower(), _DECLINED_PIECES) and _DECLINED.search(head) is not None
