"""Statistics, one subject a module. Undefined is `None` (in arrays NaN) with a reason, never 0.

Raters: `agreement`, `coefficients`, `kappa_errors`, `patterns`, `dissent`, `rater_margins`, `intraclass`.
Shares: `proportions`, `two_proportions`, `paired`, `clustered`, `design_effect`, `pass_at_k`, `ratios`.
Judges: `diagnostic`, `multiclass`, `correction` (prevalence under judge error), `thresholds`.
Samples and time: `comparisons`, `incidence`, `experiments`, `power`, `multiplicity`.
Resampling: `resampling` (drawn), `ideal_bootstrap` (counted). Printed figures: `audit`, `reconstruction`.
Results: `estimate` (a value with its interval), `significance` (a test).
"""
