"""What users of other loops reported, as named cases, and the breakers that stop such loops.

A case is a run, round by round, made up after a public thread that it names; nothing is quoted. A breaker is asked
after each round whether to stop. `breakers` has those of other loops, `stop_rule` the reflexive loop's own.
"""
