"""Products over semirings: types, arrays, memory for the answer, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from fences import fenced
from product_samples import CASES, DEVICES, factor, nothing

import kleene as kl
from kleene.errors import MemoryBudgetError, PathOverflowError


@pytest.mark.parametrize("device", DEVICES)
def test_sums_never_wrap(device: str) -> None:
    for dtype, wider in (("int16", "int32"), ("int32", "int64")):
        limits = np.iinfo(dtype)
        big = int(limits.max) - 1
        for semiring, sign in (("min_plus", 1), ("max_plus", -1)):
            a = np.array([[sign * big, sign * 5]], dtype)
            b = np.array([[sign * big, sign], [nothing(semiring, dtype), sign * big]], dtype)
            values, inner = kl.product(a, b, semiring, argmin=True, device=device)
            assert values.dtype == wider
            assert values.tolist() == [[sign * 2 * big, sign * min(big + 1, big + 5)]]
            assert inner.tolist() == [[0, 0]]
            # What fits the type stays in it, though the engine needs a wider one.
            near = np.array([[sign * (big - 9)]], dtype), np.array([[sign * 9]], dtype)
            assert kl.product(*near, semiring, device=device).dtype == dtype
            assert kl.product(*near, semiring, device=device).item() == sign * big


def test_negative_integers_do_not_make_paths() -> None:
    """What is no path stays so with a negative entry, wherever the engine counts from."""
    for low in (-1, -8000, -16000, -(2**30), -(2**40)):
        for dtype in ("int16", "int32", "int64"):
            if low < np.iinfo(dtype).min:
                continue
            none = nothing("min_plus", dtype)
            a = np.array([[none, none, low]], dtype)
            b = np.array([[low, low], [none, low], [none, 3]], dtype)
            values, inner = kl.product(a, b, argmin=True, dtype="int64", device="cpu")
            assert values.tolist() == [[2**63 - 1, low + 3]]
            assert inner.tolist() == [[-1, 2]]
            assert np.array_equal(kl.product(a, b, dtype="int64", device="cpu"), values)


def test_types_that_do_not_fit_are_refused() -> None:
    a = np.array([[2**30]], np.int32)
    assert kl.product(a, a).tolist() == [[2**31]]
    with pytest.raises(kl.RequestError, match="int32 cannot hold values"):
        kl.product(a, a, dtype="int32")
    assert kl.product(a, a, dtype="float64").dtype == np.float64
    huge = np.array([[2**62]])
    with pytest.raises(PathOverflowError, match=r"int64 is safe up to 4.61169e\+18"):
        kl.product(huge, huge)
    assert kl.product(huge, huge, "max_min").item() == 2**62
    assert kl.product(huge, huge, dtype="float64").item() == 2.0**63
    wide = np.array([[3e38]], np.float32)
    assert kl.product(wide, wide).dtype == np.float64
    assert kl.product(wide, wide, "max_min").dtype == np.float32
    with pytest.raises(kl.RequestError, match="float32 cannot hold"):
        kl.product(wide, wide, "max_times", dtype="float32")
    with pytest.raises(PathOverflowError):
        kl.product(np.array([[1e308]]), np.array([[1e308]]))
    with pytest.raises(kl.RequestError, match="cannot hold"):
        kl.product(np.array([[1e300, np.inf]]), np.ones((2, 1)), "max_min", dtype="float32")
    with pytest.raises(kl.RequestError, match="A of float32 and B of float32, which are float32"):
        kl.product(wide, wide, "max_min", dtype="int64")
    with pytest.raises(kl.RequestError, match="A of int64 and B of int64, which are float64"):
        kl.product([[3]], [[4]], "max_times", dtype="int64")
    with pytest.raises(kl.RequestError, match="dtype must be bool"):
        kl.product([[True]], [[True]], "boolean", dtype="int32")


def test_mixed_types_keep_their_own_no_path() -> None:
    none = nothing("min_plus", np.int32)
    a = np.array([[none, 4]], np.int32)
    b = np.array([[1.5, np.inf], [2.5, np.inf]])
    assert kl.product(a, b).tolist() == [[6.5, np.inf]]
    lowest = nothing("max_plus", np.int16)
    c = np.array([[lowest], [7]], np.int16)
    values, inner = kl.product(a.astype(np.int64), c, "max_plus", argmin=True)
    assert (values.tolist(), inner.tolist()) == ([[11]], [[1]])


def test_arrays_of_every_kind() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((20, 30)), rng.random((30, 25))
    wanted = kl.product(a, b, "max_plus")
    assert np.array_equal(kl.product(a.tolist(), b.tolist(), "max_plus"), wanted)
    wide = np.zeros((40, 60))
    wide[::2, ::2] = a
    for view in (np.asfortranarray(a), wide[::2, ::2], a[::-1][::-1], a.astype(">f8")):
        view.flags.writeable = False
        assert np.array_equal(kl.product(view, np.asfortranarray(b), "max_plus"), wanted)
    out = np.empty((20, 25))
    assert kl.product(fenced(a), fenced(b), "max_plus", out=out) is out
    assert np.array_equal(out, wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("semiring", "dtype"), CASES)
def test_out(device: str, semiring: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    a, b = factor(rng, (9, 12), semiring, dtype), factor(rng, (12, 5), semiring, dtype)
    wanted, inner = kl.product(a, b, semiring, argmin=True, device="cpu")
    out = fenced(np.full_like(wanted, 1))
    got, chosen = kl.product(a, b, semiring, argmin=True, out=out, device=device)
    assert got is out
    assert np.array_equal(out, wanted)
    assert np.array_equal(chosen, inner)
    out[...] = 1
    assert kl.product(a, b, semiring, out=out, device=device) is out
    assert np.array_equal(out, wanted)
    if semiring == "min_plus":
        square = np.zeros((4, 4), dtype)
        with pytest.raises(kl.RequestError, match="shares memory"):
            kl.product(square, square, out=square, device=device)
        for wrong in (out[:, :4], out.astype("float64" if dtype != "float64" else "float32"), "x"):
            with pytest.raises(kl.RequestError, match="out must be"):
                kl.product(a, b, out=wrong, device=device)


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"semiring": "min_pls"}, "min_plus"),
        ({"A": [1.0, 2.0]}, r"A\[None, :\]"),
        ({"A": np.zeros((2, 3))}, "A has 3 columns but B has 2 rows"),
        ({"A": [[np.nan, 1.0], [0.0, 1.0]]}, r"A holds nan at \(0, 0\)"),
        ({"B": [[1.0, 1.0], [0.0, -np.inf]]}, r"B holds -inf at \(1, 1\)"),
        ({"A": [[1.0, np.inf]], "semiring": "max_plus"}, r"A holds inf at \(0, 1\)"),
        ({"A": [[1.0, -0.5]], "semiring": "max_times"}, r"A holds -0.5 at \(0, 1\)"),
        ({"A": [[1.0, np.inf]], "semiring": "max_times"}, "finite non-negative numbers"),
        ({"A": [[1.0, 0.5]], "semiring": "boolean"}, "A != 0"),
        ({"A": np.ones((2, 2), np.float16)}, "A must be int16, int32, int64"),
        ({"A": np.ones((2, 2), np.uint8)}, "not uint8"),
        ({"A": [[True, False]]}, "not bool"),
        ({"A": [["a", "b"]]}, "A must be"),
        ({"A": [[1.0], [1.0, 2.0]]}, "A is ragged.* pass rows of the same length$"),
        ({"A": np.ma.masked_equal([[1.0, 2.0]], 2)}, r"masked entries; give them values by"),
        ({"argmin": 1}, "argmin must be True or False"),
        ({"dtype": "int8"}, "dtype must be int16"),
        ({"dtype": "int32"}, "dtype int32 cannot hold"),
        ({"device": "gpu"}, "gpu"),
        ({"threads": 0}, "threads"),
        ({"progress": 3}, "progress"),
    ],
)  # fmt: skip
def test_refusals(how: dict[str, Any], message: str) -> None:
    with pytest.raises((kl.RequestError, kl.GraphError), match=message):
        kl.product(**{"A": np.ones((2, 2)), "B": np.ones((2, 2)), **how})


def test_memory_is_checked_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    column, row = np.zeros((3000, 1), np.float32), np.zeros((1, 3000), np.float32)
    monkeypatch.setenv("KLEENE_MEMORY", "20M")
    with pytest.raises(MemoryBudgetError, match=r"the product of \(3000, 1\) and .* needs"):
        kl.product(column, row, device="cpu")
    with pytest.raises(MemoryBudgetError, match="argmin=False"):
        kl.product(column, row, argmin=True, device="cpu")
    assert kl.product(column[:9], row, device="cpu").shape == (9, 3000)


@pytest.mark.skipif("emulated" not in DEVICES, reason="built without the emulator")
def test_device_memory_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.zeros((300, 300), np.float32)
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "2M")
    with pytest.raises(MemoryBudgetError, match="device='cpu'"):
        kl.product(a, a, device="emulated")
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "4M")
    assert not kl.product(a, a, device="emulated").any()


@pytest.mark.parametrize("device", DEVICES)
def test_progress_and_what_it_raises(device: str) -> None:
    reports: list[tuple[int, int]] = []
    a = np.ones((300, 700))
    kl.product(a, a.T, argmin=True, progress=lambda *done: reports.append(done), device=device)
    assert reports
    assert reports[-1][0] == reports[-1][1]
    assert reports == sorted(reports)

    def stop(done: int, total: int) -> None:
        raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        kl.product(a, a.T, progress=stop, device=device)


def test_a_sparse_factor_is_refused_with_advice() -> None:
    sparse, dense = scipy.sparse.csr_array(np.eye(3)), np.eye(3)
    with pytest.raises(kl.RequestError, match=r"A\.toarray\(\), where an entry of 0 is a path"):
        kl.product(sparse, dense)
    with pytest.raises(kl.RequestError, match=r"B\.toarray\(\), where an entry of 0 is 'no path'"):
        kl.product(dense, sparse, "max_times")
