"""Statistics, one subject a module. Undefined is `None` (in arrays NaN) with a reason, never 0.

Every one is reached from a command, a table or a notebook; those that were weighed and are not shown are in
`benchmarks.validity.alternatives`.

Raters: `agreement`, `coefficients`, `kappa_errors`, `kappa_tables`, `patterns`, `dissent`, `rater_margins`.
Shares: `proportions`, `two_proportions`, `paired`, `paired_rates`, `clustered`, `design_effect`, `pass_at_k`, `ratios`.
Judges: `diagnostic`, `correction` and `prediction_powered` (prevalence under judge error), `thresholds`, `ranking`.
Comparisons: `power`, `multiplicity`, `marginal_homogeneity`. Resampling: `resampling`.
Printed figures: `audit`, `reconstruction`. Results: `estimate` (a value with its interval), `significance` (a test).
"""
