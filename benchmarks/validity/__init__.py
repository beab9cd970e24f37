"""How often our intervals hold the truth, and how often our tests reject if there is nothing to find.

Samples whose truth is known go through the functions that the project calls. Where all samples can be written out with
their chances the rate is exact; elsewhere it carries its simulation error.
"""
