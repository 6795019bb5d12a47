"""The page that a one-time link leads to: one file in each language, a script and a style of our own beside it."""
