"""Local privacy: answers that are randomised before they leave the respondent, and what can be learnt from them.

Randomisers for categories and for bounded numbers, the choice between them, estimates with intervals from their
reports, and the signed manifest under which a survey is collected. No receiver needs to be trusted.
"""

__all__: list[str] = []
