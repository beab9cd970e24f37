"""Find a block of lines in a file, in a time that grows with both and not with their product."""

from collections.abc import Sequence


def places_of(block: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return where a block begins, counted from 0, overlapping places included.

    The search is that of Knuth, Morris and Pratt (1977, SIAM J. Comput. 6:323-350), on lines instead of letters.
    """
    if not block or len(block) > len(lines):
        return []
    back = [0] * len(block)
    fits = 0
    for place in range(1, len(block)):
        while fits and block[place] != block[fits]:
            fits = back[fits - 1]
        fits += block[place] == block[fits]
        back[place] = fits
    places: list[int] = []
    fits = 0
    for place, line in enumerate(lines):
        while fits and line != block[fits]:
            fits = back[fits - 1]
        fits += line == block[fits]
        if fits == len(block):
            places.append(place + 1 - len(block))
            fits = back[fits - 1]
    return places


def only_place(lines: Sequence[str], start: int, end: int) -> bool:
    """Return whether some lines are in a file once, also with the spaces around them aside."""
    stripped = [line.strip() for line in lines]
    return len(places_of(stripped[start:end], stripped)) == 1


def nearest_place(block: Sequence[str], lines: Sequence[str]) -> int | None:
    """Return where most lines of a block are at the distance that they have in it, spaces around them aside."""
    places: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        if len(at := places.setdefault(line.strip(), [])) < 20:
            at.append(place)
    votes: dict[int, int] = {}
    for place, line in enumerate(block):
        word = line.strip()
        for there in places.get(word, ()) if any(map(str.isalnum, word)) else ():
            votes[there - place] = votes.get(there - place, 0) + 1
    return max(votes, key=lambda start: (votes[start], -abs(start)), default=None)
