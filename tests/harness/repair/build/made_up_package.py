"""A tiny made-up package in its two languages, and an archive of it."""

import hashlib
import io
import tarfile
from pathlib import Path

import msgspec

from misstep_harness.repair.build.sets import CaseSource, Package, source_files
from misstep_harness.repair.build.syntax import read_modules

SHOP = """\
from rates import rate_of

LIMIT = 3


def total(prices, tax=True, rounding=2):
    if not prices:
        return 0
    found = 0
    for price in prices:
        found += price
    if tax and found > LIMIT:
        found = found * rate_of("plain")
    else:
        found = found - 0
    try:
        found = round(found, rounding)
    except TypeError:
        found = None
    return found


def cheapest(prices, skip):
    best = sorted(prices)
    chosen = best[skip:]
    return max(chosen[0], 1)
"""

RATES = """\
def rate_of(name):
    known = {"plain": 2, "food": 1}
    rate = known[name]
    return rate


def food_rate(name):
    rate = 1
    name = name.strip()
    return rate
"""

TESTS = """\
from shop import cheapest, total


def test_nothing():
    assert total([]) == 0


def test_taxed():
    assert total([2, 2]) == 8


def test_small():
    assert total([1]) == 1


def test_cheapest():
    assert cheapest([5, 3, 4], 1) == 4
"""

SHOP_JS = """\
async function total (prices, tax = true) {
  if (prices.length === 0) {
    return 0
  }
  let found = 0
  for (const price of prices) {
    found += price
  }
  if (tax && found > 3) {
    found = found * 2
  } else {
    found = found - 0
  }
  return found + 0
}

function wait (value, times) {
  const known = [value]
  return known[0]
}

module.exports = { total }
"""

FILES = {"src/shop.py": SHOP, "src/rates.py": RATES, "tests/test_shop.py": TESTS}
COMMAND = "env PYTHONPATH=src PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"


def made_up(name: str = "shop", **fields: object) -> Package:
    package = Package(name, "1.0", "python", "MIT", f"{name}-1.0.tar.gz", "0" * 64, ("src",), COMMAND)
    return msgspec.structs.replace(package, **fields)


def lay_out(folder: Path, files: dict[str, str] = FILES) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def case_source(folder: Path) -> CaseSource:
    package, tree = made_up(), lay_out(folder / "tree")
    return CaseSource(package, tree, read_modules(package.language, source_files(tree, package)))


def archive(place: Path, files: dict[str, str] = FILES, top: str = "shop-1.0/") -> str:
    with tarfile.open(place, "w:gz") as opened:
        for path, text in files.items():
            member = tarfile.TarInfo(top + path)
            member.size = len(text)
            opened.addfile(member, io.BytesIO(text.encode()))
    return hashlib.sha256(place.read_bytes()).hexdigest()
