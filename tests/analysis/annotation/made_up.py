"""Hand-made triage cases, a judge's run, a study of either, and its pages served in a thread."""

import asyncio
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from misstep.annotate.cases import open_cases
from misstep_analysis.annotation.plan import planned
from misstep_analysis.annotation.server import Pages, application, routes_of, serve_application
from misstep_analysis.annotation.study import AnnotationStudy
from misstep_harness.clients import ClientSettings
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.judging.known_judges import asked_about
from misstep_harness.runs.judging.rules import judge_named
from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from tests.misstep.made_up import atif_lines

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"


def write_case(folder: Path, name: str, *, steps: int = 3, outcome: str = "failed", text: str = "") -> None:
    """A case in the form of the design, with all of its parts."""
    case = folder / name
    files = {
        "case.toml": f'id = "{name}"\ntest_command = "python -m unittest discover -s tests"\noutcome = "{outcome}"\n',
        "instruction.md": f"Write `total.py` so that it prints the sum of the column `price` of data.csv. {text}",
        "environment/data.csv": "name,price\npear,2\napple,3\n",
        "environment/notes.txt": "Prices are in cents.\n",
        "tests/test_total.py": "import subprocess\n\n\ndef test_total():\n    assert run() == '5'\n",
        "solution/total.py": "import csv\n\nprint(sum(int(row['price']) for row in csv.DictReader(open('d'))))\n",
        "workspace/data.csv": "name,price\npear,2\napple,3\n",
        "workspace/notes.txt": "Prices are in cents.\nChecked.\n",
        "workspace/total.py": f"print(6)  # {text}\n",
        "logs/tests.log": f"FAIL: test_total\nAssertionError: '6' != '5'\n{text}",
        "logs/harness.log": "started\nexit code 1\n",
    }
    for path, content in files.items():
        (case / path).parent.mkdir(parents=True, exist_ok=True)
        (case / path).write_text(content)
    run = Trajectory(
        name,
        Source("misstep"),
        task="Write total.py.",
        steps=tuple(_step(number, text) for number in range(steps)),
        outcome=Outcome("failed" if outcome == "failed" else "passed"),
        agent="made-up",
    )
    (case / "trajectory.json").write_bytes(msgspec.json.encode(run))


def _step(number: int, text: str) -> Step:
    if number % 3 == 2:
        result = ToolResult(f"Traceback: no column {number}\n" * 30, exit_code=1)
        return Step(
            "agent", calls=(ToolCall("bash", {"command": f"python total.py --try {number}"}),), results=(result,)
        )
    command = f"sed -n 1,{number}p data.csv {text}"
    return Step(
        "agent",
        text=f"I look at line {number} of the table and at what the instruction says of it. {text}",
        calls=(ToolCall("bash", {"command": command}),),
        results=(ToolResult("name,price\npear,2\n", exit_code=0),),
    )


def write_cases(folder: Path, n: int = 6, **more: object) -> Path:
    """A folder of cases with gold labels above them."""
    for number in range(n):
        write_case(folder, f"case-{number}", **more)  # type: ignore[arg-type]
    gold = "".join(f"case-{number},construction,infrastructure\n" for number in range(n))
    (folder / "gold.csv").write_text(f"item,rater,label\n{gold}")
    return folder


def unlabelled_run(folder: Path, n: int) -> Path:
    """A rule's run over sessions that nobody has labelled."""
    judge, out = judge_named("infinite_loop@rule"), folder / "run"
    file = atif_lines(folder / "runs.jsonl", [f"s{number}" for number in range(n)])
    run_judge(judge, asked_about(judge, [file], "", out), out, ClientSettings())
    return out


def opened(
    cases: Path, folder: Path, raters: tuple[str, ...] = ("ann", "ben"), calibration: int = 2, seed: int = 0
) -> AnnotationStudy:
    """A study of the cases in a folder, begun or gone on with."""
    known = open_cases(cases, cases)
    return AnnotationStudy(folder, planned(known.ids, raters, calibration, seed, known.labels), known)


class Served:
    """The pages of a study that are served in a thread, and requests to them as a browser makes them."""

    def __init__(self, pages: Pages, port: int) -> None:
        self.pages, self.port = pages, port

    def address(self, rater: str, path: str = "") -> str:
        """Where a page of a rater is."""
        return f"http://127.0.0.1:{self.port}{self.pages.address(rater)}{path}"

    def get(self, address: str, **headers: str) -> tuple[int, str, str]:
        """Status, text, and the address in the end."""
        return self._ask(urllib.request.Request(address, headers=_dashed(headers)))  # noqa: S310 (loopback)

    def post(self, address: str, fields: dict[str, object], **headers: str) -> tuple[int, str, str]:
        """The same, for a form."""
        body = urllib.parse.urlencode(fields, doseq=True).encode()
        own = {"Origin": f"http://127.0.0.1:{self.port}"} | _dashed(headers)
        return self._ask(urllib.request.Request(address, body, own))  # noqa: S310

    def form(self, rater: str, item: str, **changed: object) -> dict[str, object]:
        """The form of a case as its page has it now, filled in."""
        state = self.pages.study.state
        last = state.last(rater, item)
        return {
            "token": self.pages.token(rater),
            "item": item,
            "phase": state.phase,
            "revision": last.revision + 1 if last else 0,
            "label": "agent",
            "subcategory agent": "logical_failure",
            "certainty": "high",
            "note": "It prints 6.",
            "step": [1, 2],
        } | changed

    def label(self, rater: str, item: str, **changed: object) -> tuple[int, str, str]:
        """Answer a case as a rater."""
        number = self.pages.study.state.plan.items.index(item)
        return self.post(self.address(rater, f"case/{number}"), self.form(rater, item, **changed))

    def _ask(self, request: urllib.request.Request) -> tuple[int, str, str]:
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
                return int(reply.status), reply.read().decode(), reply.url
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.url


@contextmanager
def served(study: AnnotationStudy, secret: str = "secret", port: int = 0) -> Iterator[Served]:  # noqa: S107 (made up)
    """The pages of a study on a free port, until the block ends."""
    pages, ready = Pages(study, secret), threading.Event()
    results: dict[str, object] = {}

    async def run() -> None:
        done = asyncio.Event()
        results["loop"], results["done"] = asyncio.get_running_loop(), done

        def taken(port: int) -> None:
            results["port"] = port
            ready.set()

        await serve_application(application(routes_of(pages), lambda _: done.set()), port, taken, done)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(30)
    try:
        yield Served(pages, int(str(results["port"])))
    finally:
        loop, done = results["loop"], results["done"]
        assert isinstance(loop, asyncio.AbstractEventLoop)
        assert isinstance(done, asyncio.Event)
        with suppress(RuntimeError):  # a full disk stops the server, whose loop may be closed by now
            loop.call_soon_threadsafe(done.set)
        thread.join(30)


def _dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
