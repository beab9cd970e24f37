"""A model that is a function: for tests, and for trying a judge without a server."""

from collections.abc import Callable

from misstep_harness.clients.settings import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.exchange import Outcome, Reply, Request
from misstep_harness.registry import Registry

Script = Callable[[Request], Outcome | str]
_SCRIPTS: Registry[Script] = Registry("misstep.scripts", {})


class ScriptedClient:
    """Answers with what a function says: a text, or a whole outcome."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.n_requests = 0

    async def ask(self, request: Request) -> Outcome:
        """Return what the function says."""
        self.n_requests += 1
        scripted = self._script(request)
        return text_reply(scripted, request.model) if isinstance(scripted, str) else scripted

    async def close(self) -> None:
        """Nothing is held."""


def text_reply(text: str, model: str) -> Reply:
    """Return a reply of that text that took no time and says nothing of tokens."""
    return Reply(text, None, "stop", model, None, None, 0.0, None)


def open_scripted(settings: ClientSettings) -> ScriptedClient:
    """Return the client that answers with the function at `settings.script`."""
    if settings.script is None:
        raise UsageError("the client `scripted` needs a function", "Name one as `package.module:function`.")
    return ScriptedClient(_SCRIPTS.load(settings.script))
