"""Estimates from reports: counts, shares, means, cross-tables, with intervals."""
