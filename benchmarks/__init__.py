"""Measurements, printed as tables and ratios within one run; never part of the tests."""
