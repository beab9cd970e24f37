#!/bin/sh
# Makes a small git repository with a failing test: `sh examples/make_shop.sh FOLDER`.
set -eu
mkdir -p "$1"
cd "$1"

commit() {
    git add -A
    git -c user.name="$1" -c user.email="$1@example.org" -c commit.gpgsign=false commit -q -m "$2"
}

git init -q .
cat > shop.py <<'END'
"""Prices of orders."""

DISCOUNT = 0.1
FROM_PIECES = 10


def price(pieces, each):
    """The price of an order: from ten pieces on it is a tenth less."""
    total = pieces * each
    if pieces >= FROM_PIECES:
        total -= total * DISCOUNT
    return round(total, 2)
END
cat > test_shop.py <<'END'
from shop import price


def test_few_pieces_have_no_discount():
    assert price(9, 1.0) == 9.0


def test_ten_pieces_have_the_discount():
    assert price(10, 1.0) == 9.0


def test_many_pieces_have_the_discount():
    assert price(20, 1.0) == 18.0
END
commit ann "Prices of orders"

echo "A shop." > README.md
commit ann "A README"

sed 's/pieces >= FROM_PIECES/pieces > FROM_PIECES/' shop.py > shop.new
mv shop.new shop.py
commit ben "Compare as everywhere else"

echo "It sells pieces." >> README.md
commit ann "What it sells"
