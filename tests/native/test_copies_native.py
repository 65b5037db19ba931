"""Copies within the memory of the host, by several threads."""

from __future__ import annotations

import numpy as np
import pytest

from kleene import _native


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [0, 1, 2**18 - 1, 2**18, 2**20 + 3])
def test_all_bytes_are_copied(size: int, threads: int) -> None:
    source = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    to = np.zeros_like(source)
    _native.copy_bytes(to, source, threads)
    assert np.array_equal(to, source)


def test_shapes_and_types_do_not_matter_but_sizes_do() -> None:
    to = np.empty(12, np.int16)
    _native.copy_bytes(to, np.arange(6, dtype=np.int32).reshape(2, 3), 2)
    assert to.view(np.int32).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TypeError):
        _native.copy_bytes(to, np.zeros(11, np.int16), 2)


def test_arrays_with_gaps_are_refused() -> None:
    """They would be copied first, and a copy of the target would be filled."""
    gaps, plain = np.zeros((8, 8))[:, ::2], np.zeros((8, 4))
    for to, source in ((gaps, plain), (plain, gaps)):
        with pytest.raises(TypeError):
            _native.copy_bytes(to, source, 2)
