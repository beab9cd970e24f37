"""Items in two parts, by what they hang together with: what is chosen on one is tested on the other."""

import numpy as np
import numpy.typing as npt

from misstep.analysis.measures.judging.units import BoolArray
from misstep.harness.errors import UsageError


def held_out(clusters: npt.NDArray[np.str_], share: float, seed: int) -> BoolArray:
    """Return which items are held out: whole clusters in random order, until they have so many of the items.

    The clusters are drawn from in the order of their names, so that the order in which answers came changes nothing.
    """
    if not 0 < share < 1:
        raise UsageError(f"the held-out share is {share:g}", "Give a number between 0 and 1.")
    names, places, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    if len(names) < 2:
        what = "one item alone has a gold label" if len(clusters) == 1 else "all items are of one run"
        raise UsageError(f"{what}, which cannot be split", "Choosing and testing take different runs.")
    order = np.random.default_rng(seed).permutation(len(names))
    before = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
    taken = before < share * len(clusters)
    # Neither half may be empty, however uneven the clusters are.
    taken[-1] = False
    held = np.zeros(len(names), dtype=np.bool_)
    held[order[taken]] = True
    return np.asarray(held[places])
