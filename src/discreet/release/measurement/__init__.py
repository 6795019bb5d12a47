"""Noisy measures: what each costs, how it is drawn and described, ranks and bounds found privately."""
