"""A person labels a drawn sample of a judge's run, blind to the judge, and nothing that was labelled is lost."""

import asyncio
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from misstep.analysis.gold import read_gold
from misstep.harness.clients import ClientSettings
from misstep.harness.errors import UsageError
from misstep.harness.judges import read_known
from misstep.harness.runs.judging.judge import run_judge
from misstep.harness.runs.judging.recovery_rule import RuleJudge
from misstep.harness.runs.judging.session_benchmark import asked_about
from misstep.studies.annotation.labelling import Labelling, draw, serve
from tests.analysis.pages.html_rules import check_page
from tests.misstep.made_up import atif_lines


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A rule's run over six sessions that nobody has labelled."""
    judge, out = RuleJudge("infinite_loop"), tmp_path / "run"
    file = atif_lines(tmp_path / "runs.jsonl", [f"s{number}" for number in range(6)])
    run_judge(judge, asked_about(judge, [file], "", out), out, ClientSettings())
    return out


def _gold(run: Path) -> list[tuple[str, str, str]]:
    return [(row.item, row.rater, row.label) for row in read_gold(run / "benchmark")]


def test_the_sample_is_drawn_by_seed_and_no_larger_than_there_are_items(run: Path) -> None:
    drawn = {seed: [item.id for item in draw(run, 4, "kim", seed=seed).items] for seed in range(6)}
    assert all(len(set(items)) == 4 for items in drawn.values())
    assert len({tuple(items) for items in drawn.values()}) > 1
    assert [item.id for item in draw(run, 4, "kim", seed=3).items] == drawn[3]
    assert len(draw(run, 99, "kim").items) == 6


def test_labels_are_kept_at_once_beside_those_of_others_and_can_be_changed(run: Path) -> None:
    (run / "benchmark/gold.csv").write_text("item,rater,label\ns0,ann,yes\n")
    labelling = Labelling(draw(run, 6, "kim"))
    first, second = (item.id for item in labelling.drawn.items[:2])
    labelling.label(first, "no")
    labelling.label(second, "no")
    labelling.label(first, "yes")
    assert _gold(run) == [("s0", "ann", "yes"), (first, "kim", "yes"), (second, "kim", "no")]
    assert (run / "benchmark/gold.csv").stat().st_mode & 0o777 == 0o600
    again = Labelling(draw(run, 6, "kim"))
    assert (again.labelled, again.done) == (2, False)
    assert "3 of 6: Mend the fence." in again.page()


def test_the_page_says_what_an_item_is_about_and_what_each_label_means(run: Path) -> None:
    labelling = Labelling(draw(run, 1, "kim"))
    page = check_page(labelling.page())
    for words in ("1 of 1: Mend the fence.", labelling.drawn.items[0].id, "Infinite loop: which label is right?"):
        assert words in page.text
    for meaning in read_known("infinite_loop").labels.values():
        assert meaning in page.text


def test_the_page_does_not_say_what_the_judge_said(run: Path) -> None:
    verdict = (run / "verdicts.jsonl").read_text()
    assert "comes back three times" in verdict
    page = Labelling(draw(run, 6, "kim")).page()
    assert "comes back three times" not in page
    assert 'value="yes" data-key="1"' in page


def test_what_is_not_on_the_page_cannot_be_labelled(run: Path) -> None:
    labelling = Labelling(draw(run, 2, "kim"))
    with pytest.raises(UsageError):
        labelling.label(labelling.drawn.items[0].id, "maybe")
    with pytest.raises(UsageError):
        labelling.label("another", "yes")
    assert _gold(run) == []


def test_the_server_takes_labels_under_its_own_path_and_host_until_all_are_given(run: Path) -> None:
    labelling = Labelling(draw(run, 2, "kim"))
    addresses: list[str] = []
    ready = threading.Event()

    def opened(address: str) -> None:
        addresses.append(address)
        ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(serve(labelling, 0, opened)))
    thread.start()
    assert ready.wait(30)
    address = addresses[0]
    root = "/".join(address.split("/")[:3])

    def asked(url: str, host: str | None = None, **fields: str) -> int:
        body = urllib.parse.urlencode(fields).encode() if fields else None
        headers = {"Host": host} if host else {"Origin": root}
        request = urllib.request.Request(url, body, headers)  # noqa: S310 (loopback)
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code

    first, second = (item.id for item in labelling.drawn.items)
    assert address.startswith("http://127.0.0.1:")
    assert asked(f"{root}/") == 404
    assert asked(address, host="evil.example") == 403
    assert asked(f"{address}label", item=first, label="maybe") == 400
    assert asked(f"{address}label", item=first, label="no") == 200
    assert asked(f"{address}label", item=second, label="no") == 200
    thread.join(30)
    assert not thread.is_alive()
    assert {label for _, _, label in _gold(run)} == {"no"}
