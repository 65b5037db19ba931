"""Answers that stay on the device: what they hold, when they are copied, what they refuse."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.errors import MemoryBudgetError
from kleene.results.device_arrays import DeviceArray
from kleene.system.machine import this_machine


@pytest.fixture(params=["0", "1", "7"])
def schedule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", request.param)


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of every copy to the host that has an entry for each vertex."""
    sizes: list[int] = []
    copied = EmulatedDevice.copy

    def counted(self: EmulatedDevice, to: Any, source: Any, stream: Any = None) -> None:
        if isinstance(to, np.ndarray) and to.size >= N:
            sizes.append(to.nbytes)
        copied(self, to, source, stream)

    monkeypatch.setattr(EmulatedDevice, "copy", counted)
    return sizes


N = 90


def sample(weights: bool = True, dtype: str = "int32") -> kl.Graph:
    rng = np.random.default_rng(5)
    tails, heads = rng.integers(0, N, (2, 4 * N))
    lengths = rng.integers(1, 50, 4 * N).astype(dtype) if weights else None
    return kl.Graph.from_edges(tails, heads, lengths, n=N)


CALLS: dict[str, Callable[..., kl.Result]] = {
    "bfs": lambda g, **o: kl.bfs(g, 3, **o),
    "bfs in float64": lambda g, **o: kl.bfs(g, 3, dtype="float64", **o),
    "bfs by frontier": lambda g, **o: kl.bfs(g, 3, method="frontier", **o),
    "bfs without predecessors": lambda g, **o: kl.bfs(g, 3, predecessors=False, **o),
    "bfs to targets": lambda g, **o: kl.bfs(g, 3, targets=[7, 5], **o),
    "bfs within 2": lambda g, **o: kl.bfs(g, 3, limit=2, **o),
    "bfs reversed": lambda g, **o: kl.bfs(g, 3, reverse=True, **o),
    "bfs by rule": lambda g, **o: kl.bfs(g, 3, deterministic=True, **o),
    "bfs from several": lambda g, **o: kl.bfs(g, sources=[3, 1], **o),
    "bfs from many": lambda g, **o: kl.bfs(g, sources=range(70), **o),
    "bfs from none": lambda g, **o: kl.bfs(g, sources=[], **o),
    "sssp": lambda g, **o: kl.sssp(g, 3, **o),
    "sssp within 40": lambda g, **o: kl.sssp(g, 3, limit=40, **o),
    "sssp from several": lambda g, **o: kl.sssp(g, sources=[3, 1, 3], **o),
    "sssp by bellman_ford": lambda g, **o: kl.sssp(g, 3, method="bellman_ford", **o),
    "sssp by prepared within 40": lambda g, **o: kl.sssp(g, 3, method="prepared", limit=40, **o),
    "apsp": lambda g, **o: kl.apsp(g, method="batched", **o),
    "apsp by tiled": lambda g, **o: kl.apsp(g, method="tiled", **o),
    "apsp by tiled within 40": lambda g, **o: kl.apsp(g, method="tiled", limit=40, **o),
    "apsp of some": lambda g, **o: kl.apsp(g, sources=[4, 2], **o),
    "closure": lambda g, **o: kl.closure(g, **o),
    "widths": lambda g, **o: kl.closure(g, "max_min", predecessors=True, **o),
}


@pytest.mark.usefixtures("schedule")
@pytest.mark.parametrize("name", CALLS)
def test_it_holds_what_the_host_would(name: str) -> None:
    g, solve = sample(), CALLS[name]
    wanted = solve(g, device="cpu")
    found = solve(g, device="emulated", keep="device")
    arrays = found.device_arrays
    whole = found if found._targets is None else None
    for array, right in ((arrays.distances, wanted), (arrays.predecessors, None)):
        if array is None:
            assert found._answer.predecessors is None
            continue
        assert isinstance(array, DeviceArray)
        assert array.shape == ((N,) if found._single else (len(found._sources), N))
        taken = np.from_dlpack(array)
        assert taken.dtype == array.dtype
        assert (taken == array.to_numpy()).all()
        if right is not None and whole is not None:
            assert array.dtype == right.distances.dtype
            np.testing.assert_array_equal(taken, right.distances)
    np.testing.assert_array_equal(found.distances, wanted.distances)
    found.verify()


@pytest.mark.usefixtures("schedule")
@pytest.mark.parametrize("name", ["bfs", "sssp", "sssp from several", "apsp", "bfs from many"])
def test_nothing_is_copied_before_it_is_read(name: str, downloads: list[int]) -> None:
    g = sample().to("emulated")
    found = CALLS[name](g, device="emulated", keep="device")
    found.device_arrays.distances.__dlpack__()
    assert downloads == []
    values = found._answer.whole_values
    assert downloads == [values.nbytes]
    assert found._answer.whole_values is values
    assert found._answer.whole_predecessors is found._answer.whole_predecessors
    assert len(downloads) == 2
    repr(found), found.verify(), found.reached
    assert len(downloads) == 2, "copied once"


@pytest.mark.usefixtures("schedule")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_of_lengths_is_closed_in_place(dtype: str, downloads: list[int]) -> None:
    g = sample(dtype=dtype)
    g = g.reweight(arcs=g.weights + g.weights.dtype.type(0.5))  # type: ignore[union-attr]
    found = kl.apsp(g, method="tiled", predecessors=False, device="emulated", keep="device")
    assert [size for size in downloads if size >= N * N] == []
    wanted = kl.apsp(g, device="cpu").distances
    np.testing.assert_allclose(np.from_dlpack(found.device_arrays.distances), wanted, rtol=1e-5)
    found.verify()
    whole = kl.closure(g, "min_plus", device="emulated", keep="device")
    np.testing.assert_allclose(whole.distances, wanted, rtol=1e-5)


def test_a_matrix_that_the_host_completes() -> None:
    """Negative lengths, and a negative cycle, which is named."""
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.5, -1.0, 0.5])
    found = kl.apsp(g, method="tiled", predecessors=False, device="emulated", keep="device")
    np.testing.assert_array_equal(
        np.from_dlpack(found.device_arrays.distances), kl.apsp(g, device="cpu").distances
    )
    lost = kl.Graph.from_edges([0, 1], [1, 0], [1.5, -2.0])
    with pytest.raises(kl.NegativeCycleError):
        kl.apsp(lost, method="tiled", predecessors=False, device="emulated", keep="device")


def test_what_a_result_can_do() -> None:
    """Paths, tables, files, pickles and copies; the last two are on the host."""
    labels = ["a", "b", "c", "d"]
    g = kl.Graph.from_table({"source": labels[:3], "target": labels[1:], "weight": [2, 3, 4]})
    found = kl.sssp(g, "a", device="emulated", keep="device")
    assert found.path("d") == labels
    assert found.route("c").distance == 5
    assert found.to_pandas()["distance"].tolist() == [0, 2, 5, 9]
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert twin.distances.tolist() == [0, 2, 5, 9]
        assert twin.path("d") == labels
        with pytest.raises(kl.RequestError, match="keep='device'"):
            _ = twin.device_arrays
    assert copy.copy(found).device_arrays.distances.shape == (4,)


def test_a_saved_result(tmp_path: Path) -> None:
    g = sample()
    found = kl.bfs(g, 0, device="emulated", keep="device")
    found.save(tmp_path / "kept.npz")
    again = kl.Result.load(tmp_path / "kept.npz", g)
    np.testing.assert_array_equal(again.distances, found.distances)
    again.verify()


def test_the_memory_lives_as_long_as_any_array() -> None:
    device: Any = open_device("emulated")
    gc.collect()
    before = device.allocated
    found = kl.bfs(sample(), 0, device="emulated", keep="device")
    right = found.distances.copy()
    taken = np.from_dlpack(found.device_arrays.distances)
    both = device.allocated - before
    del found
    gc.collect()
    assert 0 < device.allocated - before < both, "the predecessors are gone"
    for _ in range(3):  # others do not get its memory
        kl.bfs(sample(), 1, device="emulated", keep="device")
    np.testing.assert_array_equal(taken, right)
    del taken
    gc.collect()
    assert device.allocated == before
    capsule = kl.bfs(sample(), 0, device="emulated", keep="device").device_arrays[0].__dlpack__()
    del capsule  # nothing has taken it
    gc.collect()
    assert device.allocated == before


def test_two_threads_read_the_same_copy() -> None:
    found = kl.apsp(sample(), device="emulated", keep="device")
    seen: list[int] = []
    start = threading.Barrier(4)

    def read() -> None:
        start.wait()
        seen.append(id(found._answer.whole_values))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1


def test_protocols() -> None:
    array = kl.bfs(sample(), 0, device="emulated", keep="device").device_arrays.distances
    assert (array.ndim, array.size, array.nbytes, len(array)) == (1, N, 4 * N, N)
    assert repr(array) == f"DeviceArray(shape=({N},), dtype=int32, device='emulated')"
    assert array.__dlpack_device__() == (1, 0)
    assert not hasattr(array, "__cuda_array_interface__"), "its memory is the CPU's"
    for refused in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError, match="without a copy"):
            array.__dlpack__(**refused)
    assert "dltensor" in repr(array.__dlpack__(stream=1, max_version=(1, 1), copy=False))
    assert np.asarray(array, dtype="float64").dtype == np.float64
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="copied to the host"):
            np.asarray(array, copy=False)


def test_on_a_gpu_it_has_the_cuda_interface() -> None:
    kept = kl.bfs(sample(), 0, device="emulated", keep="device")._answer.kept
    assert kept is not None

    class Gpu:
        kind, index, ordinal = "cuda", 2, 1

    array = DeviceArray(kept.values, Gpu())
    interface = array.__cuda_array_interface__
    assert interface["shape"] == (1, N)
    assert interface["data"] == (kept.values.address, False)
    assert interface["strides"] is None
    assert array.__dlpack_device__() == (2, 1)


def test_what_it_does_not_go_with(tmp_path: Path) -> None:
    g = sample()
    for options, match in (
        ({"keep": "gpu"}, "keep must be 'host' or 'device', not 'gpu'"),
        ({"keep": None}, "keep must be"),
        ({"keep": "device", "device": "cpu"}, "use device='cuda', or leave out keep"),
        ({"keep": "device", "device": "emulated", "out": tmp_path / "d.npy"}, "leave out one"),
    ):
        for solve in (lambda **o: kl.bfs(g, 0, **o), lambda **o: kl.apsp(g, **o)):
            with pytest.raises(kl.RequestError, match=match):
                solve(**options)
        with pytest.raises(kl.RequestError, match=match):
            kl.explain(g, "sssp", **options)  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="pairs are collected on the host"):
        kl.sssp(g, pairs=[(0, 1)], device="emulated", keep="device")
    with pytest.raises(kl.RequestError, match="call with keep='device'"):
        _ = kl.bfs(g, 0).device_arrays
    if "cuda" not in this_machine().devices:
        with pytest.raises(kl.DeviceError, match="'cuda'"):
            kl.bfs(g, 0, keep="device")


def test_the_plan_says_so() -> None:
    plan = kl.explain(sample(), "apsp", device="emulated", keep="device")
    host = kl.explain(sample(), "apsp", device="emulated")
    assert "stay on the device" in str(plan)
    assert plan.device_memory == host.device_memory + 8 * N * N


def test_an_answer_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    g = sample()
    device: Any = open_device("emulated")
    gc.collect()
    before = device.allocated
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", str(before + 40_000))
    kl.bfs(g, sources=range(4), device="emulated")
    with pytest.raises(MemoryBudgetError, match="keep='host'"):
        kl.bfs(
            g, sources=range(60), method="direction_optimizing", device="emulated", keep="device"
        )
    gc.collect()
    assert device.allocated == before
