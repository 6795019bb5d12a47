"""Bootstrap differential privacy: neighbours come from the observed data alone. Not differentially private.

Sensitivities and accuracy as the paper prints them and as they are, what each release leaks, larger pools of
neighbours, the release itself with its own log, and an examination for the custodian alone.
"""

__all__: list[str] = []
