"""How far people who send false reports can move an estimate.

Nobody can tell a false report from an honest one that was randomised: that is what protects the honest. So what can be
promised is a bound. One false report adds w·(1[it supports c] − q)/((p − q)·π) to the estimated count of category c,
w its weight and π the chance of being asked: between −q and 1 − q in the units of w/((p − q)·π). A false report in
place of an honest one moves the count by at most the sum of both ends, w/((p − q)·π).
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.collect.randomisers.randomiser import Channel

__all__ = ["Poisoning", "count_reach", "mean_reach", "ratio_reach"]


@dataclass(frozen=True, slots=True)
class Poisoning:
    """What one false report of the largest weight can do to one statistic of a question; m of them m times as much.

    Not `proportional`: a mean of those who have a number at all, where false reports also move their number.
    """

    question: str
    statistic: str
    reach: float
    proportional: bool = True


def count_reach(channel: Channel, *, weight: float, inclusion: float) -> float:
    """The most that one added report of this weight can move an estimated count, up or down."""
    return weight * max(1 - channel.q, channel.q) / ((channel.p - channel.q) * inclusion)


def ratio_reach(channel: Channel, *, share: float, weight: float, asked: float, everybody: float) -> float:
    """The most that one added report of this weight can move a count by ratio in a cell; m of them at most m times it.

    `asked` and `everybody` are the weights of those who were asked and of all respondents there. One more report of
    value u moves the count by w·[u + (everybody − asked)·(u − share)/(asked + w)].
    """
    values = [(support - channel.q) / (channel.p - channel.q) for support in (0, 1)]
    left = (everybody - asked) / (asked + weight)
    return weight * max(abs(value + left * (value - share)) for value in values)


def mean_reach(extremes: tuple[float, float], *, mean: float, weight: float, total: float) -> float:
    """The most that one added report of this weight can move a mean over reports whose weights add up to `total`."""
    low, high = extremes
    return weight * max(high - mean, mean - low) / (total + weight)
