"""Randomisers of categories and numbers, and which of them suits a question."""
