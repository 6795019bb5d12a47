"""Sums by several messages: each contribution is split into shares that mean nothing alone; only their sum does.

Guarantee: shuffle DP, (epsilon, delta), while at least a share `survivors` of the clients send and keep their shares
           to themselves. If the shuffler is not honest: nothing.
Requires:  contributions between `lowest` and `largest`, in at most `contributions` cells each; an absent client sends
           zeros; drop-outs that do not depend on the noise; a shuffler for each cell (shuffle.permutation).
Proof:     docs/proofs/multi-message.md
Refs:      [BBGN20] (shares and noise), [IKOS06] (split and mix); noise shares by [FS09].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, Neighbours, ShuffleDP, exact, exp_up, ln_down, ln_up, shown, text
from discreet.mechanisms import exact_level
from discreet.noise import Entropy, discrete_laplace_many, laplace_half_width, polya, uniform_array_below

if TYPE_CHECKING:
    from numpy import int64, uint8, uint64
    from numpy.typing import NDArray

__all__ = ["FEWEST_SENDERS", "MultiMessageSum", "count_shares"]

FEWEST_SENDERS: Final = 19
_MOST_CLIENTS: Final = 10**9
_MOST_BITS: Final = 62
_MOST_EPSILON: Final = 100
_WRAP_BITS: Final = 40
_FEWEST_SHARES: Final = 4
_GRID_SCALE: Final = 2048.0


@lru_cache(maxsize=256)
def count_shares(*, senders: int, security: int, bits: int) -> int:
    """How many shares hide everything but the sum modulo 2**bits, up to a statistical distance 2**(-security-1).

    The smallest m >= 4 with 2**(2*security + bits) * (e/senders)**(m-2) <= 1, for 19 senders or more. The proof also
    needs senders**2 <= 3 * 4**security; callers raise `security` until that holds.
    """
    if senders < FEWEST_SENDERS or senders**2 > 3 * 4**security:
        raise ValueError("too few senders for split and mix, or too little security for so many")
    per_share = ln_down(Fraction(senders)) - 1
    return max(_FEWEST_SHARES, 2 + math.ceil((2 * security + bits) * ln_up(Fraction(2)) / per_share))


@dataclass(frozen=True, slots=True)
class MultiMessageSum:
    """Totals of whole numbers over `clients` respondents in `cells` cells, with the accuracy of a trusted curator.

    Contributions are whole steps (weight in steps times answer in steps). One person moves the cells together by
    `sensitivity`: under add-remove `contributions` times the largest magnitude; under replace-one a person may leave
    one cell and enter another, which costs up to twice that. A `coarsening` of c rounds contributions at random to
    multiples of c steps, without bias, for smaller messages.

    What follows from that: `sensitivity` and the `scale` of the noise in coarse steps, the `security` (bits of
    statistical distance), sums modulo 2**`bits`, and the `shares` that each client sends for each cell.
    """

    epsilon: Decimal
    delta: Decimal
    clients: int
    largest: int
    lowest: int
    cells: int
    contributions: int
    neighbours: Neighbours
    survivors: Fraction
    coarsening: int
    sensitivity: int = field(compare=False)
    scale: Fraction = field(compare=False)
    security: int = field(compare=False)
    bits: int = field(compare=False)
    shares: int = field(compare=False)

    def __init__(
        self,
        *,
        epsilon: ExactLike,
        delta: ExactLike,
        clients: int,
        largest: int,
        lowest: int = 0,
        cells: int = 1,
        contributions: int = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
        survivors: ExactLike = 1,
        coarsening: int = 1,
    ) -> None:
        share = Fraction(exact(survivors, parameter="survivors", largest=1))
        values = {
            "epsilon": exact(epsilon, parameter="epsilon", largest=_MOST_EPSILON),
            "delta": exact(delta, parameter="delta", below=1),
            "clients": _whole(clients, "clients", FEWEST_SENDERS, _MOST_CLIENTS),
            "largest": _whole(largest, "largest", 0, 1 << _MOST_BITS),
            "lowest": _whole(lowest, "lowest", -(1 << _MOST_BITS), 0),
            "cells": _whole(cells, "cells", 1, 10**6),
            "contributions": _whole(contributions, "contributions", 1, cells),
            "neighbours": Neighbours(neighbours),
            "survivors": share,
            "coarsening": _whole(coarsening, "coarsening", 1, 1 << 32),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if lowest == largest:
            raise ParameterInvalid(parameter="largest", rule=say("must differ from lowest"), given=str(largest))
        if self.senders < FEWEST_SENDERS:
            rule = say("must leave at least {fewest} senders", fewest=FEWEST_SENDERS)
            raise ParameterInvalid(
                parameter="survivors",
                rule=rule,
                given=say("{part} of {whole}", part=self.senders, whole=clients),
            )
        object.__setattr__(self, "sensitivity", self._derive_sensitivity())
        object.__setattr__(self, "scale", self.sensitivity / Fraction(self.epsilon))
        object.__setattr__(self, "security", self._derive_security())
        object.__setattr__(self, "bits", self._derive_bits())
        if self.bits > _MOST_BITS:
            rule = say("must leave sums of at most {most} bits; a larger coarsening shortens them", most=_MOST_BITS)
            raise ParameterInvalid(parameter="largest", rule=rule, given=say("{bits} bits", bits=self.bits))
        shares = count_shares(senders=self.senders, security=self.security, bits=self.bits)
        object.__setattr__(self, "shares", shares)

    @property
    def senders(self) -> int:
        """The fewest clients that must send, and keep their shares to themselves, for the guarantee."""
        return math.ceil(self.survivors * self.clients)

    def _derive_sensitivity(self) -> int:
        """How far one person moves the vector of sums in all, rounding included."""
        low = math.floor(Fraction(self.lowest, self.coarsening))
        high = math.ceil(Fraction(self.largest, self.coarsening))
        reach = max(-low, high)
        if self.neighbours is Neighbours.ADD_REMOVE:
            return self.contributions * reach
        shared = max(0, 2 * self.contributions - self.cells)
        return shared * (high - low) + 2 * (self.contributions - shared) * reach

    def _derive_security(self) -> int:
        """The sigma for which (1 + e^epsilon) * cells * 2**(-sigma-1) <= delta, and the bound on shares holds."""
        worst = (1 + exp_up(Fraction(self.epsilon))) * self.cells / Fraction(self.delta) / 2
        return max((math.ceil(worst) - 1).bit_length(), self.senders.bit_length())

    def _derive_bits(self) -> int:
        """Enough that no sum leaves (-2**(bits-1), 2**(bits-1)), but for a chance of 2**-40 in all cells together."""
        parts = math.ceil(1 / self.survivors)
        log_term = _WRAP_BITS * ln_up(Fraction(2)) + ln_up(Fraction(2 * parts * self.cells))
        noise = parts * math.ceil(self.scale * log_term)
        each = math.ceil(Fraction(max(-self.lowest, self.largest), self.coarsening))
        return (2 * (self.clients * each + noise)).bit_length()

    @property
    def width(self) -> int:
        """The bytes of one message."""
        return (self.bits + 7) // 8

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""
        return {
            "epsilon": text(self.epsilon),
            "delta": text(self.delta),
            "clients": str(self.clients),
            "bounds": f"[{self.lowest}, {self.largest}]",
            "cells": str(self.cells),
            "contributions": str(self.contributions),
            "neighbours": str(self.neighbours),
            "survivors": str(self.survivors),
            "coarsening": str(self.coarsening),
            "shares": str(self.shares),
            "bits": str(self.bits),
        }

    def guarantee(self) -> ShuffleDP:
        """What the shuffled shares promise. One client's own noise is next to nothing, so no local side is claimed."""
        return ShuffleDP(epsilon=self.epsilon, delta=self.delta, local_epsilon=None, anonymity=self.senders)

    def encode(self, entropy: Entropy, values: NDArray[Any]) -> NDArray[uint64]:
        """The shares of some clients, shaped clients x cells x shares, for their contributions, clients x cells."""
        steps = self._check(values)
        return self._split(
            entropy, self._round(entropy, steps) + self._draw_noise(entropy, steps.size).reshape(steps.shape)
        )

    def write_payloads(self, shares: NDArray[uint64]) -> NDArray[uint8]:
        """Shares as payloads of `width` bytes, most significant byte first, one row each."""
        import numpy as np

        return shares.reshape(-1, 1).astype(">u8").view(np.uint8)[:, 8 - self.width :].copy()

    def read_payloads(self, payloads: NDArray[uint8]) -> NDArray[uint64]:
        """The shares of such payloads, in their order."""
        import numpy as np

        wide = np.zeros((payloads.shape[0], 8), dtype=np.uint8)
        wide[:, 8 - self.width :] = payloads
        return wide.view(">u8").reshape(-1).astype(np.uint64)

    def analyse(self, shares: NDArray[uint64]) -> int:
        """The total of one cell, in steps, from all of its shares in any order.

        Refused unless they are all shares of a permitted number of clients: with fewer the guarantee fails.
        """
        import numpy as np

        number, lost = divmod(shares.size, self.shares)
        if lost or not self.senders <= number <= self.clients:
            rule = say(
                "must be all {shares} shares of {fewest} to {most} clients",
                shares=self.shares,
                fewest=self.senders,
                most=self.clients,
            )
            raise ParameterInvalid(parameter="shares", rule=rule, given=str(shares.size))
        modulus = 1 << self.bits
        # Addition of 64-bit words wraps modulo 2**64, which 2**bits divides: nothing is lost.
        total = int(np.sum(shares, dtype=np.uint64)) % modulus
        return (total - modulus if total > modulus // 2 else total) * self.coarsening

    def draw_total_noise(self, entropy: Entropy, count: int, *, senders: int | None = None) -> list[int]:
        """`count` independent draws of the noise in a total, in steps: the same law as the sum of all shares of it.

        For studies, which need the outcome and not the messages. `senders` is how many clients sent; all, by default.
        """
        shape = self._shape(senders)
        if shape == 1:
            return [self.coarsening * noise for noise in discrete_laplace_many(entropy, scale=self.scale, count=count)]
        draws = (
            polya(entropy, shape=shape, scale=self.scale) - polya(entropy, shape=shape, scale=self.scale)
            for _ in range(count)
        )
        return [self.coarsening * noise for noise in draws]

    def variance(self, *, senders: int | None = None) -> float:
        """The variance of a total in squared steps, by its noise alone.

        Coarsening adds at most a quarter of a coarse step squared per sender.
        """
        decay = math.exp(-1 / float(self.scale))
        return float(self._shape(senders)) * 2 * decay / (1 - decay) ** 2 * self.coarsening**2

    def half_width(self, level: ExactLike, *, senders: int | None = None) -> int:
        """A reach in steps around a total that holds the true one with at least this probability.

        Exact for one discrete Laplace draw. Any other number of senders: by the law of the sum on a grid, rounded up.
        Coarsening: a tenth of what may be missed goes to Hoeffding's bound on the rounding.
        """
        missing = 1 - exact_level(level)
        number = self.clients if senders is None else senders
        rounding = 0.0
        if self.coarsening > 1:
            rounding = self.coarsening * math.sqrt(number * math.log(20 / float(missing)) / 2)
            missing = missing * 9 / 10
        shape = self._shape(senders)
        if shape == 1:
            reach = laplace_half_width(scale=self.scale, level=1 - missing)
        else:
            reach = _polya_half_width(shape=float(shape), scale=float(self.scale), missing=float(missing))
        return self.coarsening * reach + math.ceil(rounding * (1 + 1e-9))

    def interval(self, total: int, *, level: ExactLike, senders: int | None = None) -> tuple[int, int]:
        """An interval around a total, in steps; privacy noise and rounding only."""
        reach = self.half_width(level, senders=senders)
        return total - reach, total + reach

    def _shape(self, senders: int | None) -> Fraction:
        number = self.clients if senders is None else senders
        if not self.senders <= number <= self.clients:
            rule = say(
                "must lie between {fewest} and {most}: with fewer the guarantee fails",
                fewest=self.senders,
                most=self.clients,
            )
            raise ParameterInvalid(parameter="senders", rule=rule, given=shown(number))
        return number / (self.survivors * self.clients)

    def _check(self, values: NDArray[Any]) -> NDArray[int64]:
        import numpy as np

        if values.dtype.kind not in "iu" or values.ndim != 2 or values.shape[1] != self.cells:
            raise ValueError(f"contributions are whole numbers, one row per client and {self.cells} cells")
        if values.size and (int(values.min()) < self.lowest or int(values.max()) > self.largest):
            raise ValueError(f"a contribution lies outside [{self.lowest}, {self.largest}]")
        if (np.count_nonzero(values, axis=1) > self.contributions).any():
            raise ValueError(f"a client contributes to at most {self.contributions} cells")
        return values.astype(np.int64)

    def _round(self, entropy: Entropy, steps: NDArray[int64]) -> NDArray[int64]:
        if self.coarsening == 1:
            return steps
        drawn = uniform_array_below(entropy, self.coarsening, count=steps.size).reshape(steps.shape)
        return steps // self.coarsening + (drawn < steps % self.coarsening)

    def _draw_noise(self, entropy: Entropy, count: int) -> NDArray[int64]:
        import numpy as np

        shape, modulus = 1 / (self.survivors * self.clients), 1 << self.bits
        drawn = [
            (polya(entropy, shape=shape, scale=self.scale) - polya(entropy, shape=shape, scale=self.scale)) % modulus
            for _ in range(count)
        ]
        return np.array(drawn, dtype=np.int64)

    def _split(self, entropy: Entropy, sums: NDArray[int64]) -> NDArray[uint64]:
        import numpy as np

        mask = np.uint64((1 << self.bits) - 1)
        shares = np.empty((*sums.shape, self.shares), dtype=np.uint64)
        free = sums.size * (self.shares - 1)
        raw = np.frombuffer(entropy.read(self.width * free), dtype=np.uint8).reshape(free, self.width)
        shares[..., 1:] = (self.read_payloads(raw) & mask).reshape(*sums.shape, self.shares - 1)
        # All but the first are uniform; the first makes up the sum. Words wrap modulo 2**64, which 2**bits divides.
        shares[..., 0] = (sums.astype(np.uint64) - shares[..., 1:].sum(axis=-1, dtype=np.uint64)) & mask
        return shares


@lru_cache(maxsize=256)
def _polya_half_width(*, shape: float, scale: float, missing: float) -> int:
    """A t with P(|X - Y| > t) <= missing, X and Y Pólya, from their characteristic function on a grid.

    Large scales are brought down to 2048, where the law differs from its limit by less than the margin of 1/500.
    """
    import numpy as np

    fine = min(scale, _GRID_SCALE)
    size = 1 << math.ceil(math.log2(max(64.0, 128 * fine * max(1.0, shape))))
    decay = math.exp(-1 / fine)
    angle = 2 * math.pi * np.arange(size // 2 + 1) / size
    transform = ((1 - decay) ** 2 / (1 - 2 * decay * np.cos(angle) + decay**2)) ** shape
    law = np.fft.irfft(transform, n=size)[: size // 2]
    outside = 2 * np.cumsum(law[::-1])[::-1]  # at t: P(|Z| >= t) for t >= 1
    beyond = np.flatnonzero(outside[1:] <= missing * (1 - 1e-6))
    reach = int(beyond[0]) if len(beyond) else size // 2
    return reach if scale == fine else math.ceil((reach + 1) * scale / fine * 1.002)


def _whole(value: object, parameter: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        rule = say("must be a whole number between {low} and {high}", low=low, high=high)
        raise ParameterInvalid(parameter=parameter, rule=rule, given=shown(value))
    return value
