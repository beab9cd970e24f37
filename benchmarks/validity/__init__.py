"""How often our intervals hold the truth, and how often our tests reject if there is nothing to find.

`python -m benchmarks.validity` draws samples whose truth is known, at small and awkward sizes, puts each through the
function that the rest of the project calls, and counts. Where all samples can be written out with their chances
(counts out of n, 2 x 2 tables) they are, and the rate is exact; elsewhere it carries its simulation error.
"""
