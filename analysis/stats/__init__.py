"""Statistics, one subject a module. Undefined is `None` (in arrays NaN) with a reason, never 0.

Every one is reached from a command, a table, a notebook or a benchmark; those that only reference cases have stand
beside these, in the tests.

Raters: `agreement`, `coefficients`, `kappa_errors`, `kappa_tables`, `patterns`, `dissent`, `rater_margins`.
Shares: `proportions`, `two_proportions`, `paired`, `clustered`, `design_effect`, `pass_at_k`, `ratios`.
Judges: `diagnostic`, `correction` (prevalence under judge error), `thresholds`, `ranking`, `marginal_homogeneity`.
Samples and time: `comparisons`, `incidence`, `power`, `multiplicity`. Resampling: `resampling`.
Printed figures: `audit`, `reconstruction`. Results: `estimate` (a value with its interval), `significance` (a test).
"""
