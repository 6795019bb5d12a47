"""Estimators: counts, shares, means and sums from scored reports, with their variances, as arrays."""
