"""Texts for readers in both languages, as cards have them."""

from discreet.catalogue import Labels

__all__ = ["Labels"]
