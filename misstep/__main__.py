"""`misstep COMMAND`: runs it, and makes of an error one line and an exit code.

A hook, which an agent waits for, goes its own way: what other commands import takes ten times as long as it may.
"""

import os
import sys
from io import TextIOWrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from misstep_harness.errors import MisstepError

_HELP = {"-h", "--help"}


def main() -> None:
    """Run one command; an error is one line on stderr and an exit code (2 input, 3 missing; Ctrl-C gives 130)."""
    if sys.argv[1:2] == ["observe"] and "--hook" in sys.argv and not _HELP.intersection(sys.argv):
        from misstep_harness.observer.hook import call

        call.main(sys.argv[2:])
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # the name of a file may hold bytes that are no text
    from misstep.command_line import app
    from misstep.removed import refuse_removed
    from misstep_harness.errors import MisstepError

    try:
        refuse_removed(sys.argv[1:])
        app()
        sys.stdout.flush()
    except SystemExit:
        _flush()
        raise
    except MisstepError as error:
        _flush()
        _end(error)
    except OSError as error:
        _end(_of_the_system(error))


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        _end(_of_the_system(error))


def _of_the_system(error: OSError) -> "MisstepError":
    """Return what the system said no to, as one line; an error that names no file is one of ours and stays as it is."""
    from misstep_harness.errors import CannotWrite, InputError, is_full

    if error.filename is not None and is_full(error):
        return CannotWrite(error.filename, error.strerror or str(error))
    if error.filename is None:
        if not (is_full(error) or isinstance(error, BrokenPipeError)):
            raise error
        # What is printed has no place to go: it is dropped, or the interpreter fails on it once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):  # whoever reads has read enough
            sys.exit(1)
        return CannotWrite("the output", error.strerror or str(error))
    return InputError(error.strerror or str(error), "Check its permissions.", file=error.filename)


def _end(error: "MisstepError") -> "NoReturn":
    from misstep_harness.escaping import plain
    from misstep_harness.progress import say

    say(f"misstep: {plain(error.line())}")
    sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
