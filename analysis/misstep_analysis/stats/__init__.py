"""Statistics, one subject a module. Undefined is `None` (in arrays NaN) with a reason, never 0.

Every one is reached from a command, a table or a notebook.

Raters: `agreement`, `coefficients`, `kappa_errors`, `patterns`.
Shares: `proportions`, `two_proportions`, `paired`, `clustered`, `clustered_pairs`, `pass_at_k`.
Judges: `diagnostic`, `correction` (prevalence under judge error), `thresholds`, `ranking`.
Comparisons: `relative_change` (ratios of sums), `power`, `significance`, `marginal_homogeneity`.
Resampling: `resampling`.
Printed figures: `audit`. Results: `estimate` (a value with its interval), `significance` (a test).
"""
