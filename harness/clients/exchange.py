"""The nouns of `harness.exchange`."""

from harness.exchange import TRANSIENT as TRANSIENT
from harness.exchange import Client as Client
from harness.exchange import Failure as Failure
from harness.exchange import FailureKind as FailureKind
from harness.exchange import Message as Message
from harness.exchange import Outcome as Outcome
from harness.exchange import Reply as Reply
from harness.exchange import Request as Request
from harness.exchange import Role as Role
from harness.exchange import TokenLogprob as TokenLogprob
from harness.exchange import token_logprobs as token_logprobs
from harness.exchange import without_surrogates as without_surrogates
