"""Common options of the generators: weights, errors, progress and interruption."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene import generate

quick = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**64 - 1)

# ---- weights --------------------------------------------------------------------------------


@quick
@given(st.integers(-(2**62), 2**62), st.integers(0, 2**61), seeds)
def test_integer_weights_stay_in_range(low, span, seed):
    weights = generate.uniform(20, 100, weights=(low, low + span), seed=seed).weights
    assert low <= weights.min()
    assert weights.max() <= low + span
    narrow = low >= -(2**31) and low + span < 2**31 - 1
    assert weights.dtype == (np.int32 if narrow else np.int64)


@quick
@given(
    st.floats(-(2.0**100), 2.0**100, width=32),
    st.floats(0, 2.0**100, width=32),
    st.sampled_from(["float32", "float64"]),
    seeds,
)
def test_float_weights_stay_in_range(low, span, dtype, seed):
    high = float(np.float32(low) + np.float32(span))
    weights = generate.uniform(20, 100, weights=(low, high, dtype), seed=seed).weights
    assert weights.dtype == dtype
    assert low <= weights.min()
    assert weights.max() < high or low == high


def test_weights_are_uniform():
    weights = generate.uniform(400, 50_000, weights=(1, 4)).weights
    assert np.bincount(weights)[1:] / 50_000 == pytest.approx([0.25] * 4, abs=0.01)
    weights = generate.uniform(400, 50_000, weights=(-1.0, 1.0)).weights
    assert weights.mean() == pytest.approx(0, abs=0.02)


def test_other_weights():
    assert set(generate.path(4, weights=7).weights.tolist()) == {7}
    assert generate.path(4, weights=0.5).weights.dtype == np.float64
    drawn = generate.cycle(50, weights=lambda rng, count: rng.normal(size=count))
    assert drawn.stats.symmetric
    assert len(set(drawn.weights.tolist())) == 50
    assert generate.path(3, directed=True, weights=lambda rng, count: [5, 6]).weights.tolist() == [
        5,
        6,
    ]


# ---- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generate.uniform(-1, 0), "n must be from 0 to"),
        (lambda: generate.uniform(2.5, 0), "n must be an integer, not 2.5"),
        (lambda: generate.uniform(4, 13), "m is 13, but 4 vertices have at most 12 arcs"),
        (lambda: generate.uniform(4, 7, directed=False), "at most 6 edges"),
        (lambda: generate.uniform(4), "either m or density"),
        (lambda: generate.uniform(4, 1, density=0.5), "either m or density"),
        (lambda: generate.uniform(4, density=25), "for 25 % pass 0.25"),
        (lambda: generate.uniform(4, 1, seed=-1), "seed must be from 0 to"),
        (lambda: generate.uniform(4, 1, threads=0), "threads must be an integer from 1"),
        (lambda: generate.dense(4, float("nan")), "density must be from 0 to 1"),
        (lambda: generate.rmat(99), "scale must be from 0 to 40"),
        (lambda: generate.rmat(4, a=0.6, b=0.3, c=0.2), "a \\+ b \\+ c must be at most 1"),
        (lambda: generate.rmat(4, noise=0.5), "noise must be from 0 to 0.19"),
        (lambda: generate.capped(10, 0.5, 2), "raise max_degree to 5 or lower density"),
        (lambda: generate.capped(10, 0.5, 0), "max_degree must be from 1 to"),
        (lambda: generate.capped(10, 0.5, 30.0), "max_degree.* for 30 % pass 0.3"),
        (lambda: generate.small_world(10, 3), "k must be even"),
        (lambda: generate.small_world(10, 10), "k must be less than n = 10"),
        (lambda: generate.small_world(10, 4, "often"), "p must be a number from 0 to 1"),
        (lambda: generate.grid(-1, 3), "rows must be"),
        (lambda: generate.grid(2**30, 2**30), "more than"),
        (lambda: generate.grid(2, 2, drop=2), "drop must be from 0 to 1"),
        (lambda: generate.tree(4, 0), "branching must be from 1 to"),
        (lambda: generate.path(4, weights=(3, 1)), "low > high"),
        (lambda: generate.path(4, weights=(1, float("nan"))), "finite"),
        (lambda: generate.path(4, weights=float("inf")), "finite"),
        (lambda: generate.path(4, weights="heavy"), "weights cannot be 'heavy': pass None"),
        (lambda: generate.path(4, weights=("a", "b")), "contains 'a', which is not a number"),
        (lambda: generate.path(4, weights=(1, 2, 3, 4)), "weights cannot be"),
        (lambda: generate.path(4, weights=(1, 2, "int8")), "not int8"),
        (lambda: generate.path(4, weights=(1, 2, "number")), "not 'number'"),
        (lambda: generate.path(4, weights=(0.5, 2, "int32")), "pass integers"),
        (lambda: generate.path(4, weights=(0, 2**40, "int32")), "do not fit in int32"),
        (lambda: generate.path(4, weights=(0, 1e300, "float32")), "do not fit in float32"),
        (lambda: generate.path(4, weights=lambda rng, count: [1]), "must return 3 numbers"),
    ],
)
def test_error_messages(call, message):
    with pytest.raises(kl.RequestError, match=message):
        call()


def test_too_large_is_refused_before_it_is_made():
    with pytest.raises(kl.MemoryBudgetError, match=r"rmat.*needs .*available"):
        generate.rmat(38)
    with pytest.raises(kl.MemoryBudgetError):
        generate.complete(2**31)


# ---- progress and interruption --------------------------------------------------------------


def test_progress():
    calls = []
    generate.rmat(16, 64, threads=1, progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    assert calls[-1] == (1000, 1000)


def test_interrupt():
    def work():
        for _ in range(100):  # one would do on a slow machine
            generate.uniform(2**20, 2**24, threads=1)

    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    timer.join()
