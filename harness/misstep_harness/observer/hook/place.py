"""Where hooks and the process of their session meet: a socket and a lock in a folder that nobody else can look into.

    message   length in 4 bytes, JSON {"settings": {…}, "event": {…}}
    reply     length in 4 bytes, JSON to print or nothing; then "+" once it is printed

Nothing is imported here that takes long: an agent waits for its hooks.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

SESSION_END = "SessionEnd"

FOLDER = "observer"
HEAD = 4
LEFT = 0xFFFFFFFF
"""In place of a reply: the process had other settings and ends; the caller starts one with its own."""

MOST_BYTES = 64 << 20
"""A longer message is not taken."""

WARM_SECONDS = 0.05
"""How long a call waits for an answer of a process that runs: rules have one by then."""


class SessionPlace:
    """Where the process of a session is found."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder, self.name = folder, name

    @classmethod
    def of(cls, session: str) -> "SessionPlace":
        """Return the place of a session, in a folder that nobody else can look into."""
        join = os.path.join  # `places.cache_folder` says the same, and takes ten milliseconds to import
        cache = os.environ.get("MISSTEP_CACHE") or join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),  # noqa: PTH111
            "misstep",
        )
        folder = os.path.abspath(join(cache, FOLDER))  # noqa: PTH100
        try:
            os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103
        except OSError as error:
            raise ValueError(f"{folder}: {error.strerror}. Set MISSTEP_CACHE to a folder of your own.") from error
        owner = os.stat(folder)  # noqa: PTH116
        if owner.st_uid != os.getuid():
            raise ValueError(f"{folder} belongs to somebody else. Set MISSTEP_CACHE to a folder of your own.")
        if owner.st_mode & 0o077:
            os.chmod(folder, 0o700)  # noqa: PTH101
        return cls(folder, sha256(session.encode(errors="replace")).hexdigest()[:32])

    def file(self, end: str) -> str:
        """Return the path of a file of this session."""
        return os.path.join(self.folder, f"{self.name}.{end}")  # noqa: PTH118

    @contextmanager
    def inside(self) -> Iterator[str]:
        """Be in the folder for a moment, and give the socket's name: a path to it may be longer than is allowed."""
        before = os.open(".", os.O_RDONLY)
        os.chdir(self.folder)
        try:
            yield f"{self.name}.sock"
        finally:
            os.fchdir(before)
            os.close(before)

    def connected(self) -> socket.socket | None:
        """Return a connection to the process, if there is one."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(WARM_SECONDS)
        try:
            with self.inside() as name:
                connection.connect(name)
        except TimeoutError:  # its queue is full: it is there, and busy
            return connection
        except OSError:
            connection.close()
            return None
        return connection

    def locked(self) -> int | None:
        """Return the lock that the one process of the session holds as long as it lives; `None` if another does."""
        import fcntl  # Windows has none, and imports this module without the hook

        lock = os.open(self.file("lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return None
        return lock


def received(connection: socket.socket, length: int, deadline: float) -> bytes:
    """Return so many bytes."""
    data = bytearray()
    while len(data) < length:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(min(length - len(data), 1 << 16))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
