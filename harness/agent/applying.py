"""What applies a patching sub-agent's replies in one edit format."""

from collections.abc import Callable

from misstep.harness.agent.environment import AppliedEdit, ApplyReply
from misstep.harness.edits import apply_edit


def replies_in(edit_format: str) -> ApplyReply:
    """Return the way to read replies in an edit format."""

    def apply_reply(reply: str, read: Callable[[str], str | None], path: str) -> AppliedEdit:
        applied = apply_edit(edit_format, reply, read, path)
        return AppliedEdit(applied.files, tuple(receipt.rule for receipt in applied.receipts))

    return apply_reply
