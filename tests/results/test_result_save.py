"""Results are saved under every name that ``out=`` takes, and other libraries read their arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.stores import STORE_SUFFIXES

GRID = kl.generate.grid(5, 5, weights=(1, 9), seed=1)

RESULTS: dict[str, Any] = {
    "one source": lambda: kl.sssp(GRID, 0),
    "several": lambda: kl.sssp(GRID, sources=[1, 2, 3]),
    "hops": lambda: kl.bfs(GRID, sources=[3, 4]),
    "limit": lambda: kl.sssp(GRID, sources=[1, 2], limit=9),
    "targets": lambda: kl.sssp(GRID, sources=[1, 2], targets=[3, 4, 8]),
    "no predecessors": lambda: kl.sssp(GRID, sources=[1, 2], predecessors=False),
    "reverse": lambda: kl.sssp(GRID, sources=[3], reverse=True),
    "boolean": lambda: kl.closure(GRID, semiring="boolean"),
    "floats": lambda: kl.apsp(kl.Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])),
    "swept": lambda: kl.sssp(kl.prepare(GRID), sources=[1, 2]),
    "matrix": lambda: kl.prepare(GRID).matrix([1, 2], [3, 4]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_store_holds_what_the_result_has(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zarr")
    monkeypatch.setattr("kleene.stores.save._MEMORY", 2**13)  # several blocks
    result, file = RESULTS[name](), tmp_path / "d.zarr"
    result.save(file)
    again = kl.Result.load(file, result.graph)
    assert np.array_equal(again.distances, np.atleast_2d(result.distances))
    assert (again.problem, again.reverse) == (result.problem, result.reverse)
    if name not in ("reverse", "targets", "matrix"):
        kept = None if result.predecessors is None else np.atleast_2d(result.predecessors)
        assert np.array_equal(again.predecessors, kept) if kept is not None else True
        assert (again.predecessors is None) == (kept is None)
    again.verify()
    result.save(file)  # it is there


def test_a_store_of_a_result_is_that_of_its_call(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    kl.sssp(GRID, sources=[1, 2, 3]).save(tmp_path / "d.zarr")
    plan = kl.sssp(GRID, sources=[1, 2, 3], out=tmp_path / "d.zarr").plan
    assert "read from d.zarr" in str(plan)
    with pytest.raises(kl.StoreError, match="belongs to other work"):
        kl.sssp(GRID, sources=[1, 2, 4]).save(tmp_path / "d.zarr")


def test_one_list_of_suffixes(tmp_path: Path) -> None:
    """Whatever ``out=`` takes, a result can be saved as; the docstrings name them."""
    pytest.importorskip("zarr")
    for suffix in STORE_SUFFIXES:
        kl.sssp(GRID, 0).save(tmp_path / f"d{suffix}")
        assert (tmp_path / f"d{suffix}").exists()
        assert f"``{suffix}``" in str(kl.Result.save.__doc__)
        assert suffix in str(kl.sssp.__doc__)


def test_pairs_are_not_kept_in_a_store(tmp_path: Path) -> None:
    with pytest.raises(kl.RequestError, match=r"a store holds rows.*save it as \.npz"):
        kl.sssp(GRID, pairs=[(0, 1)]).save(tmp_path / "d.zarr")
    assert list(tmp_path.iterdir()) == []


# ---- DLPack -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESULTS)
def test_other_libraries_read_the_distances(name: str) -> None:
    result = RESULTS[name]()
    assert result.__dlpack_device__() == (1, 0)
    assert np.array_equal(np.from_dlpack(result), result.distances)


def test_distances_are_shared_unless_they_are_read_only() -> None:
    result = kl.sssp(GRID, 0)
    assert np.shares_memory(np.from_dlpack(result), result.distances) == (
        result.distances.flags.writeable
    )


def test_torch_reads_the_distances() -> None:
    torch = pytest.importorskip("torch")
    result = kl.sssp(GRID, sources=[1, 2])
    assert torch.from_dlpack(result).tolist() == result.distances.tolist()


def test_distances_on_a_device_stay_there() -> None:
    pytest.importorskip("kleene._emulator")
    result = kl.bfs(GRID, 0, device="emulated", keep="device")
    assert result.__dlpack_device__() == result.device_arrays.distances.__dlpack_device__()
    assert np.from_dlpack(result).tolist() == kl.bfs(GRID, 0).distances.tolist()
    of_some = kl.bfs(GRID, 0, targets=[1, 2], device="emulated", keep="device")
    with pytest.raises(BufferError, match=r"take result\.device_arrays\.distances"):
        np.from_dlpack(of_some)
