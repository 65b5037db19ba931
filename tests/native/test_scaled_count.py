"""Counts with an exponent of their own, against exact fractions."""

from __future__ import annotations

import math
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

HERE = Path(__file__).parent

#: A number is (mantissa, exponent).
NUMBERS = st.tuples(
    st.one_of(st.just(0.0), st.floats(5e-324, 1.7e308)), st.integers(-(10**15), 10**15)
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    target = tmp_path_factory.mktemp("scaled_count") / "scaled_count"
    core = HERE.parents[1] / "native" / "core"
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", core]
    subprocess.run([*command, HERE / "scaled_count.cpp", "-o", target], check=True)
    return target


def run(program: Path, operation: str, a: tuple[float, int], b: tuple[float, int]) -> list[str]:
    line = f"{operation} {a[0].hex()} {a[1]} {b[0].hex()} {b[1]}\n"
    done = subprocess.run([program], input=line, capture_output=True, text=True, check=True)
    return done.stdout.split()


def scaled(number: tuple[float, int], by: int) -> Fraction:
    """Return mantissa * 2^(exponent - by), exactly; only for numbers near 2^by."""
    return Fraction(number[0]) * Fraction(2) ** (number[1] - by)


def top(number: tuple[float, int]) -> int:
    """Return the exponent of a number whose mantissa is in [0.5, 1)."""
    return math.frexp(number[0])[1] + number[1]


@pytest.mark.parametrize("operation", ["+", "*", "/"])
@given(a=NUMBERS, b=NUMBERS)
@example((1.0, 0), (1.0, -64))
@example((1.0, 0), (1.0, -53))
@example((0.0, 5), (3.0, 10**15))
@example((0.75, 10**15), (0.75, 10**15))
def test_arithmetic(
    program: Path, operation: str, a: tuple[float, int], b: tuple[float, int]
) -> None:
    assume(operation != "/" or b[0])
    mantissa, exponent, nearest = run(program, operation, a, b)
    found = float.fromhex(mantissa), int(exponent)
    if operation == "+":
        by = max(top(x) for x in (a, b) if x[0]) if a[0] or b[0] else 0
        exact = sum(scaled(x, by) for x in (a, b) if x[0] and by - top(x) < 2000)
    elif a[0] == 0 or b[0] == 0:
        by, exact = 0, Fraction(0)
    else:
        sign = 1 if operation == "*" else -1
        by = top(a) + sign * top(b)
        exact = scaled(a, top(a)) * scaled(b, top(b)) ** sign
    if exact == 0:
        assert (found[0], float.fromhex(nearest)) == (0, 0)
        return
    assert 0.5 <= found[0] < 1
    assert abs(scaled(found, by) - exact) <= exact * Fraction(2) ** -52
    assert float.fromhex(nearest) == as_double(*found)


def as_double(mantissa: float, exponent: int) -> float:
    try:
        return math.ldexp(mantissa, max(exponent, -5000))
    except OverflowError:
        return math.inf


@given(a=NUMBERS, b=NUMBERS)
@example((1.0, 0), (2.0, -1))
@example((0.0, 7), (0.0, -7))
@example((0.0, 7), (5e-324, -(10**15)))
def test_order(program: Path, a: tuple[float, int], b: tuple[float, int]) -> None:
    def key(number: tuple[float, int]) -> tuple[bool, int, float]:
        return (number[0] > 0, top(number) if number[0] else 0, math.frexp(number[0])[0])

    assert run(program, "<", a, b) == [str(int(key(a) < key(b)))]
    assert run(program, "==", a, b) == [str(int(key(a) == key(b)))]


def test_a_ratio_of_counts_beyond_doubles(program: Path) -> None:
    mantissa, exponent, nearest = run(program, "/", (3.0, 10**9), (4.0, 10**9))
    assert (float.fromhex(mantissa), int(exponent), float.fromhex(nearest)) == (0.75, 0, 0.75)
