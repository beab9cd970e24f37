"""The patching sub-agent: one file, one instruction, an edit back. It has no tools (section 5)."""

from collections.abc import Callable

from misstep.harness.agent.loop import AgentStopped
from misstep.harness.agent.policies.model import ModelSettings
from misstep.harness.agent.protocols import PatchRequest
from misstep.harness.exchange import Failure, Message
from misstep.harness.prompting import fill, shipped_prompt
from misstep.harness.protocols import Ask

PROMPT = "agent/patcher"


class ModelPatcher:
    """Asks a model for an edit.

    - `rules`: How the edit format is written, for the prompt, from the path of the file.
    """

    def __init__(self, rules: Callable[[str], str], settings: ModelSettings = ModelSettings()) -> None:  # noqa: B008 -- frozen
        self._rules, self._settings = rules, settings

    async def patch(self, request: PatchRequest, ask: Ask) -> str:
        """Return the model's reply; raises `AgentStopped` if there is none."""
        messages = messages_of(request, self._rules(request.path))
        outcome = await ask(self._settings.request(self._settings.name or ask.model, messages))
        if isinstance(outcome, Failure):
            raise AgentStopped(f"the patching model gave no answer: {outcome.sentence}")
        return outcome.text or ""


def messages_of(request: PatchRequest, rules: str) -> tuple[Message, ...]:
    """Return what the patching model is shown: how to write an edit, the run so far, the file, the instruction."""
    prompt = shipped_prompt(PROMPT)
    values = {
        "rules": rules,
        "history": request.history or "(nothing yet)",
        "path": request.path,
        "code": request.content,
        "instructions": request.instructions,
    }
    system, asked = fill(prompt.system, values), fill(prompt.user, values)
    return (Message("system", system), Message("user", asked))
