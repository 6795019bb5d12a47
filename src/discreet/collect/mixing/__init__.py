"""The shuffle model: reports that lose their sender among many, and how much privacy that gains.

A numeric account of the gain, protocols of one and of several messages, and the shuffler itself.
"""

__all__: list[str] = []
