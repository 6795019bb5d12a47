"""Offices by network: HTTP behind limits of its own, mail kept until it is dealt with, answers at fixed times."""
