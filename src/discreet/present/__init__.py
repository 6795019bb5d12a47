"""The one voice: a `Release` in every format, its facts in words, its figures as pictures, in English and French.

`words` says guarantees, notes and settlements; `formats` write files and screens; `figures` draw. Nothing here decides
what is released.
"""

__all__: list[str] = []
