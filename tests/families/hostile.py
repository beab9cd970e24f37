"""Files of strangers that ask the host for more than it may give, and what must stay out of reach of them.

A row is a function that writes one kind of such files into a checkout; `outside` is what they try to reach.
"""

import os
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

CANARY = "canary-5f0d1c7a93"
"""What the secret file holds: it must be in no output."""

PROBE = """
import itertools, os, socket, unittest


def tried(place):
    walks = itertools.chain.from_iterable(itertools.islice(os.walk(top, followlinks=True), 200) for top in (place, "."))
    for top, _, names in walks:
        for name in names:
            try:
                if name == "daemon":
                    opened = socket.socket(socket.AF_UNIX)
                    opened.connect(os.path.join(top, name))
                    opened.sendall(b"heard")
                elif name == "secret":
                    print(open(os.path.join(top, name)).read())
            except OSError:
                pass


class Probe(unittest.TestCase):
    def test_everything(self):
        tried(OUTSIDE)
        for family, address in ((socket.AF_UNIX, ABSTRACT), (socket.AF_INET, ("127.0.0.1", PORT))):
            try:
                opened = socket.socket(family)
                opened.connect(address)
                opened.sendall(b"heard")
            except OSError:
                pass
        print("the probe ran")
"""


class Outside(Struct):
    """A folder with a secret, an interpreter that must not run, and listeners."""

    folder: Path
    port: int
    abstract: str
    heard: list[str]

    @property
    def ran(self) -> bool:
        """Return whether its interpreter was started on the machine."""
        return (self.folder / "ran").exists()

    def probe(self) -> str:
        """Return a test that looks for the secret and calls the listeners."""
        values = {"OUTSIDE": str(self.folder), "ABSTRACT": self.abstract, "PORT": self.port}
        return "\n".join([*(f"{name} = {value!r}" for name, value in values.items()), PROBE])


@contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    """Return what strangers try to reach; it listens as long as the block runs."""
    for name in ("bin", "lib", "conda-meta"):
        (folder / name).mkdir(parents=True)
    (folder / "secret").write_text(CANARY)
    (folder / "lib/secret").write_text(CANARY)
    (folder / "bin/secret").write_text(CANARY)
    (folder / "pyvenv.cfg").write_text(f"home = {folder}/bin\n")
    for name in ("python", "python3"):
        (folder / "bin" / name).write_text(f'#!/bin/sh\ntouch {folder}/ran\necho \'["{folder}", "cpython"]\'\n')
        (folder / "bin" / name).chmod(0o755)
    made = Outside(folder, 0, f"\0misstep-{os.getpid()}-{folder.name}", [])
    with ExitStack() as opened:
        families = {"path": socket.AF_UNIX, "name": socket.AF_UNIX, "port": socket.AF_INET}
        listeners = {name: opened.enter_context(socket.socket(family)) for name, family in families.items()}
        at = os.open(folder / "lib", os.O_RDONLY)
        listeners["path"].bind(f"/proc/self/fd/{at}/daemon")  # a socket takes no long name
        os.close(at)
        (folder / "lib/daemon").chmod(0o777)
        listeners["name"].bind(made.abstract)
        listeners["port"].bind(("127.0.0.1", 0))
        made.port = listeners["port"].getsockname()[1]
        for name, listener in listeners.items():
            listener.listen()
            threading.Thread(target=_listen, args=(name, listener, made.heard), daemon=True).start()
            opened.callback(listener.shutdown, socket.SHUT_RDWR)
        yield made


def _listen(name: str, listener: socket.socket, heard: list[str]) -> None:
    with suppress(OSError):
        while True:
            listener.accept()[0].close()
            heard.append(name)


INTERPRETER = Path(os.path.realpath(sys.executable))


def _environment(folder: Path, settings: str, interpreter: Path | str = INTERPRETER) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to(interpreter)
    (folder / "pyvenv.cfg").write_text(settings)
    return folder


def _home_through_the_kernel(checkout: Path, secret: Path) -> None:
    (checkout / "x/bin").mkdir(parents=True)
    (checkout / "x/lib").symlink_to(secret / "lib")
    _environment(checkout / ".venv", f"home = /var/run/..{checkout}/x/bin\n")


def _home_elsewhere(checkout: Path, secret: Path) -> None:
    _environment(checkout / ".venv", f"home = {secret}/bin\ninclude-system-site-packages = true\n")


def _home_through_links(checkout: Path, secret: Path) -> None:
    (checkout / "way").symlink_to(secret.parent)
    _environment(checkout / "venv", f"home = {checkout}/way/{secret.name}/bin\n")


def _home_of_a_copied_interpreter(checkout: Path, secret: Path) -> None:
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").write_text("#!/bin/sh\n")
    (checkout / ".venv/bin/python").chmod(0o755)
    (checkout / ".venv/pyvenv.cfg").write_text(f"home = {secret}/bin\n")


def _interpreter_elsewhere(checkout: Path, secret: Path) -> None:
    _environment(checkout / ".venv", "", secret / "bin/python")


def _interpreter_through_a_link(checkout: Path, secret: Path) -> None:
    (checkout / "tools").symlink_to(secret)
    _environment(checkout / ".venv", "", "../../tools/bin/python3")


def _interpreter_of_the_checkout(checkout: Path, secret: Path) -> None:
    (checkout / "evil").write_text(f'#!/bin/sh\ntouch {secret}/ran\necho \'["{secret}", "cpython"]\'\n')
    (checkout / "evil").chmod(0o755)
    _environment(checkout / ".venv", "", "../../evil")


def _folder_of_programs_elsewhere(checkout: Path, secret: Path) -> None:
    (checkout / "env/conda-meta").mkdir(parents=True)
    (checkout / "env/bin").symlink_to(secret / "bin")


def _environment_is_a_link(checkout: Path, secret: Path) -> None:
    (checkout / ".venv").symlink_to(secret)


def _environment_is_the_checkout(checkout: Path, secret: Path) -> None:  # noqa: ARG001
    (checkout / ".venv").symlink_to(".")
    _environment(checkout, "")


def _environment_is_a_home(checkout: Path, secret: Path) -> None:  # noqa: ARG001
    (checkout / ".venv").symlink_to(Path.home())
    (checkout / "venv").symlink_to("/")


def _packages_elsewhere(checkout: Path, secret: Path) -> None:
    environment = _environment(checkout / ".venv", f"home = {INTERPRETER.parent}\n")
    (environment / "lib").symlink_to(secret / "lib")
    (environment / "lib64").symlink_to("/")
    (environment / "share").mkdir()
    (environment / "share/x.pth").write_text(
        f"{secret}/lib\nimport os; print(open({str(secret / 'secret')!r}).read())\n"
    )
    (checkout / ".python-version").write_text(f"../../..{secret}\n")


def _packages_of_node_elsewhere(checkout: Path, secret: Path) -> None:
    (checkout / "package.json").write_text('{"scripts": {"test": "cat node_modules/secret"}}')
    (checkout / ".nvmrc").write_text(f"{secret}\n")
    (checkout / "node_modules").symlink_to(secret)
    (checkout / "packages/fruit/node_modules").mkdir(parents=True)
    (checkout / "packages/fruit/node_modules/lib").symlink_to(secret / "lib")
    (checkout / "packages/fruit/node_modules/.bin").symlink_to(secret / "bin")


TREES: dict[str, Callable[[Path, Path], None]] = {
    "a home through the kernel's folders": _home_through_the_kernel,
    "a home elsewhere": _home_elsewhere,
    "a home through links": _home_through_links,
    "the home of a copied interpreter": _home_of_a_copied_interpreter,
    "an interpreter elsewhere": _interpreter_elsewhere,
    "an interpreter through a link": _interpreter_through_a_link,
    "an interpreter of the checkout": _interpreter_of_the_checkout,
    "a folder of programs elsewhere": _folder_of_programs_elsewhere,
    "an environment that is a link": _environment_is_a_link,
    "an environment that is the checkout": _environment_is_the_checkout,
    "an environment that is a home": _environment_is_a_home,
    "packages elsewhere": _packages_elsewhere,
    "packages of node elsewhere": _packages_of_node_elsewhere,
}
"""Name → what writes the files of a row into a checkout, given what they try to reach."""


def texts_beneath(folder: Path) -> Iterator[str]:
    """Yield the text of each file beneath a folder that a command wrote."""
    for top, _, names in os.walk(folder):
        for path in (Path(top, name) for name in names):
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.read_bytes().decode(errors="replace")
