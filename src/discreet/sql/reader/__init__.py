"""Readers of questions: SQL text to relations, keys, measures and outputs, over the identities of columns."""
