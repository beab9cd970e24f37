"""What a step does, in a few words."""

from misstep.analysis.pages.browser.wanted import shortened
from misstep.harness.trajectory import Step, ToolCall
from misstep.harness.values import written


def gist(step: Step, most: int) -> str:
    """Return the first words of what a step does, `most` characters: its calls, else its text, else what came back."""
    calls = "; ".join(_call(call, most) for call in step.calls)
    return shortened(calls[: 4 * most] or step.text.strip() or "; ".join(one.text[:most] for one in step.results), most)


def _call(call: ToolCall, most: int) -> str:
    values = [call.arguments] if isinstance(call.arguments, str) else list(call.arguments.values())
    texts = (value if isinstance(value, str) else written(value, indented=False) for value in values)
    return f"{call.name} {', '.join(one[:most] for one in texts)}".strip()
