"""An event loop whose clock jumps to the next timer: hours of waiting take milliseconds."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.SelectSelector):
    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("every task waits, and none for a time")
        self.now += timeout
        return super().select(0)


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine without waiting."""
    with asyncio.Runner(loop_factory=_JumpingLoop) as runner:
        return runner.run(work)


def virtual_now() -> float:
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()
