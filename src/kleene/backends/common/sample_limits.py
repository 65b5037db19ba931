"""How many samples prove that estimates of probabilities are within an error.

Of each sample it is known which items it passes, such as the vertices of a random path, and the
part of the samples that pass an item estimates its probability p.

Samples are independent, so the count of an item is binomial, and bounds for its tails take the
place of KADABRA's martingales. Let x of k samples pass an item. If p were larger than
q = x / k + error, a count of x or less would have at most the probability

    P(Bin(k, q) <= x) <= Phi(-sqrt(2 k KL((x + 1) / k, q)))

(Zubkov and Serov 2013, "A complete proof of universal inequalities for the distribution function
of the binomial law"); the same holds below. x is within the limit when both are no more than the
item's part of the budget for this number of samples. The parts of all items and all numbers
of samples add up to what may go wrong: that is the proof.

A number of samples that is enough in any case rests on the sum of all p, the mean number of items
that a sample passes: no more than sum / p items have a probability of p or more. Riondato and
Kornaropoulos (2016, "Fast approximation of betweenness centrality through sampling") have a bound
like it, which grows with the logarithm of the longest path too, and whose constant is known from
experiments only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["most_samples", "stop_limits"]

Array = NDArray[Any]

#: The part that all items share equally, so that the first samples need not be right.
_EQUAL = 0.05

#: The part on the side where p is larger than the estimate: the likelier one, as p < 1 / 2.
_ABOVE = 0.8

#: Numbers of samples at which counts are compared with limits: the first, as a part of the one that
#: is expected to do, and the ratio of one to the next. More of them stop sooner, and each costs a
#: part of the budget: on Enron, error 0.01, 8,300 samples; 8,700 with 0.6 and 1.12.
_FIRST_STOP, _STOP_RATIO = 0.8, 1.15

#: Probabilities below are taken for this one.
_LEAST = 1e-300


def most_samples(items: int, total: float, error: float, failure: float) -> int:
    """Return a number of samples after which all estimates are within the error.

    An estimate misses a probability p by the error with at most the probability (Chernoff)
    miss(p) = exp(-k KL(p + error, p)) + exp(-k KL(p - error, p)), which rises up to p = 1 / 2. The
    sum over all items is that of p (miss(p) / p), at most ``total`` times the largest miss(p) / p,
    and for the smallest p at most ``items`` times miss(p).

    Parameters
    ----------
    items : int
        The number of probabilities.
    total : float
        At least their sum.
    error : float
        The largest difference that is allowed.
    failure : float
        The probability that some estimate differs by more.
    """
    p = np.geomspace(error * 1e-3, 0.5, 400)
    middle = p + error > 0.5
    pinsker = 2 * error**2  # no more than any KL of numbers that differ by the error
    above = np.where(middle, pinsker, _divergence(np.minimum(p + error, 0.9), p))
    below = np.where(middle, pinsker, _divergence(np.maximum(p - error, 0), p))
    below[p < error] = np.inf
    # Each p stands for those from the one before it on; the last for all larger ones.
    weights = np.append(items, total / p[:-1])

    def fails(samples: int) -> bool:
        miss = np.exp(-samples * above) + np.exp(-samples * below)
        return bool(items * miss[0] + (weights * miss)[1:].max() > failure)

    enough = math.ceil(math.log(4 * items / failure) / pinsker)  # by Hoeffding's inequality
    return _first_true(lambda samples: not fails(samples), enough)


def stop_limits(
    guess: Array, first: int, most: int, error: float, failure: float
) -> tuple[Array, Array]:
    """Return the numbers of samples to stop at, and the largest counts that prove the error.

    Parameters
    ----------
    guess : array
        How many of the first samples passed each item: its class.
    first : int
        How many first samples there were.
    most : int
        The number of samples to stop at in any case.
    error : float
        The error to prove.
    failure : float
        The probability that a limit is kept and the error is not.

    Returns
    -------
    ends : array
        Numbers of samples, ascending.
    limits : array
        For each of them and each class, the largest count.
    """
    members = np.bincount(guess)
    classes = np.flatnonzero(members)
    sizes = members[classes]
    expected = np.minimum((classes + np.sqrt(classes)) / first, 0.5 - error)
    rates = _divergence(expected, expected + error).tolist()

    def misses(samples: int) -> Array:
        """Return about how likely an item of each class is not within the error."""
        return np.array([math.erfc(math.sqrt(samples * rate)) for rate in rates]) / 2

    soon = _first_true(lambda samples: bool(sizes @ misses(samples) <= failure / 8), most)
    ends = [max(soon * _FIRST_STOP, 2 / error)]
    while ends[-1] < most:
        ends.append(ends[-1] * _STOP_RATIO)
    stops = np.append(np.ceil(ends[:-1]), most).astype(np.int64)
    # What each stop, and each item of a class, has of the budget; all of them have one together.
    stop_parts = 1 / np.maximum(1, stops / soon) ** 2
    stop_parts[-1] = 0
    stop_parts /= max(stop_parts.sum(), _LEAST)
    item_parts = misses(soon) / max(sizes @ misses(soon), _LEAST)
    item_parts = (1 - _EQUAL) * item_parts + _EQUAL / len(guess)
    budget = failure * np.outer(stop_parts, item_parts)
    limits = np.zeros((len(stops), len(members)), np.int64)
    limits[:, classes] = _largest_counts(
        stops[:, None], error, _deviations(_ABOVE * budget), _deviations((1 - _ABOVE) * budget)
    )
    return stops, limits


def _deviations(probabilities: Array) -> Array:
    """Return z >= 0 with P(Z > z) <= p for a normal Z, for each p."""
    inverse = NormalDist().inv_cdf
    z = [max(0.0, -inverse(max(p, _LEAST))) for p in probabilities.ravel().tolist()]
    return np.reshape(z, probabilities.shape)


def _largest_counts(samples: Array, error: float, above: Array, below: Array) -> Array:
    """Return the largest counts whose tails are beyond so many deviations; -1 for none.

    Tails grow with the count up to one half of the samples; above, where the divergence is not
    monotone, it is bounded by Pinsker's inequality.
    """
    slack = error - 1 / samples
    pinsker = 2 * slack**2

    def is_proved(counts: Array) -> Array:
        x = np.minimum(counts / samples, 0.5)
        up = _divergence(x + 1 / samples, x + error)
        low = np.maximum(x - error, 1e-12)
        down = np.where(x > error, _divergence(x - 1 / samples, low), np.inf)
        middle = x + error > 0.5
        up, down = np.where(middle, pinsker, up), np.where(middle, pinsker, down)
        return (2 * samples * up >= above**2) & (2 * samples * down >= below**2)

    low, high = np.full(above.shape, -1), np.broadcast_to(samples, above.shape)
    for _ in range(int(samples.max()).bit_length() + 1):
        middle = (low + high + 1) // 2
        proved = is_proved(middle)
        low, high = np.where(proved, middle, low), np.where(proved, high, middle - 1)
    return low


def _divergence(a: Array, b: Array) -> Array:
    """Return the relative entropy KL(a, b) of two probabilities of an event, 0 < b < 1."""
    some = np.where(a > 0, a, 1)
    found: Array = np.where(a > 0, a * np.log(some / b), 0) + (1 - a) * np.log((1 - a) / (1 - b))
    return found


def _first_true(test: Callable[[int], bool], high: int) -> int:
    """Return the least positive number for which a monotone test holds; ``high`` if none less."""
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if test(middle) else (middle, high)
    return high
