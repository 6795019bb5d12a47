"""The three offices at work: a researcher asks and reads, a holder draws, a registry counts and keeps accounts."""
