"""Products of arrays of other libraries: in host memory, and on a GPU, where they stay."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array
from kleene.errors import MemoryBudgetError
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import make_plan
from kleene.registry import Method
from kleene.system.machine import Machine

if TYPE_CHECKING:
    from fake_gpu import FakeGpu

pytestmark = pytest.mark.usefixtures("gpu_machine")


class Tensor:
    """An array on the GPU, as CuPy and PyTorch have them."""

    def __init__(self, array: Array) -> None:
        self.array = array

    @classmethod
    def of(cls, host: Any) -> Tensor:
        return cls(open_device("cuda").upload(np.ascontiguousarray(host)))

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.array.__cuda_array_interface__

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **how: Any) -> Any:
        raise AssertionError("memory of a GPU was read")

    def __array_namespace__(self) -> Any:
        library = ModuleType("tensors")
        library.from_dlpack = lambda shared: Tensor(shared._array)  # type: ignore[attr-defined]
        library.asarray = Tensor.of  # type: ignore[attr-defined]
        return library

    def get(self) -> Any:
        return open_device("cuda").download(self.array)

    def copy(self, order: str) -> Tensor:
        assert order == "C"
        shape, strides = self.array.shape[::-1], self.array.strides[::-1]
        whole = Array(self.array.address, shape, self.array.dtype, strides, self.array.owner)
        return Tensor.of(Tensor(whole).get().T)

    @property
    def T(self) -> Tensor:  # noqa: N802
        a = self.array
        return Tensor(Array(a.address, a.shape[::-1], a.dtype, a.strides[::-1], a.owner))

    def min(self) -> Any:
        return self.get().min()

    def max(self) -> Any:
        return self.get().max()

    def __neg__(self) -> Tensor:
        return Tensor.of(-self.get())

    def __add__(self, number: Any) -> Tensor:
        return Tensor.of(self.get() + number)

    def __rsub__(self, number: Any) -> Tensor:
        return Tensor.of(number - self.get())


def factors(semiring: str, dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    low = 0 if semiring == "max_times" else -5
    a, b = (rng.integers(low, 9, shape).astype(dtype) for shape in ((70, 140), (140, 30)))
    if semiring == "boolean":
        return a == 3, b == 3
    worst: Any = 0 if semiring == "max_times" else np.inf if semiring == "min_plus" else -np.inf
    if np.dtype(dtype).kind == "i" and semiring != "max_times":
        limits = np.iinfo(dtype)
        worst = limits.max if semiring == "min_plus" else limits.min
    for x in (a, b):
        x[rng.random(x.shape) < 0.8] = worst
    return a, b


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("semiring", ["min_plus", "max_plus", "max_min", "max_times", "boolean"])
def test_arrays_on_a_gpu(cuda: FakeGpu, semiring: str, dtype: str) -> None:
    a, b = factors(semiring, dtype)
    wanted, inner = kl.product(a, b, semiring, argmin=True, device="cpu")
    there = Tensor.of(a), Tensor.of(b)
    got = kl.product(*there, semiring)
    assert isinstance(got, Tensor)
    assert np.array_equal(got.get(), wanted)
    assert got.get().dtype == wanted.dtype
    got, chosen = kl.product(*there, semiring, argmin=True)
    assert np.array_equal(got.get(), wanted)
    assert np.array_equal(chosen.get(), inner)
    assert chosen.get().dtype == np.int32
    out = Tensor.of(np.zeros_like(wanted))
    assert kl.product(*there, semiring, out=out) is out
    assert np.array_equal(out.get(), wanted)
    for each, host in zip(there, (a, b), strict=True):
        assert np.array_equal(each.get(), host), "the factors are unchanged"


def test_what_is_explained_is_there(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is multiplied to learn where."""
    a, b = (Tensor.of(x) for x in factors("max_plus", "float32"))
    monkeypatch.setattr(Method, "load_in_place", None)
    plan = kl.explain(a, "product", b, "max_plus", argmin=True)
    assert str(plan).startswith("product by tiled on cuda")
    assert "both matrices are there" in plan.reasons[0]


def test_nothing_large_crosses_the_bus(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (Tensor.of(x) for x in factors("min_plus", "float32"))
    wanted = kl.product(a.get(), b.get(), device="cpu")
    ends = {id(x): (x.get().min(), x.get().max()) for x in (a, b)}
    monkeypatch.setattr(Tensor, "min", lambda self: ends[id(self)][0])
    monkeypatch.setattr(Tensor, "max", lambda self: ends[id(self)][1])
    monkeypatch.setattr(Tensor, "__array_namespace__", lambda self: ModuleType("plain"))
    cuda.log.clear()
    got = kl.product(a, b)
    used = next(i for i, name in enumerate(cuda.log) if name.startswith(("cuLaunch", "cuMemcpy")))
    assert "cuCtxSynchronize" in cuda.log[:used], "the library's streams are unknown"
    assert not [name for name in cuda.log if "DtoH" in name]
    assert repr(got) == "DeviceArray(shape=(70, 30), dtype=float32, device='cuda')"
    assert np.array_equal(got.to_numpy(), wanted)


@pytest.mark.parametrize("shape", [(128, 256, 128), (128, 100, 300), (256, 128, 64)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_whole_tiles_are_used_where_they_are(
    cuda: FakeGpu, shape: tuple[int, int, int], dtype: str
) -> None:
    rows, depth, columns = shape
    rng = np.random.default_rng(3)
    a, b = (rng.integers(1, 99, s).astype(dtype) for s in ((rows, depth), (depth, columns)))
    wanted, inner = kl.product(a, b, "max_min", argmin=True, device="cpu")
    there = Tensor.of(a), Tensor.of(b)
    for _ in range(2):  # the factors stay as they are
        got, chosen = kl.product(*there, "max_min", argmin=True)
        assert np.array_equal(got.get(), wanted)
        assert np.array_equal(chosen.get(), inner)
    if dtype != "int32":
        assert np.array_equal(kl.product(*there).get(), kl.product(a, b, device="cpu"))
        odd = Tensor.of(np.pad(b, ((0, 0), (1, 0))))  # rows that begin between words of 16 bytes
        part = Tensor(odd.array[:, 1:])
        assert np.array_equal(kl.product(there[0], part).get(), kl.product(a, b, device="cpu"))


def test_results_that_were_kept_on_the_device(cuda: FakeGpu) -> None:
    """They have no arithmetic of their own: the device looks for signs."""
    lengths = np.random.default_rng(4).random((150, 150)).astype(np.float32)
    kept = kl.apsp(kl.Graph.from_dense(lengths), device="cuda", predecessors=False, keep="device")
    there = kept.device_arrays.distances
    wanted, inner = kl.product(kept.distances, kept.distances, argmin=True, device="cpu")
    cuda.log.clear()
    got, chosen = kl.product(there, there, argmin=True)
    copied = [name for name in cuda.log if "DtoH" in name]
    assert len(copied) == 2, "the signs of two matrices"
    assert np.array_equal(got.to_numpy(), wanted)
    assert np.array_equal(chosen.to_numpy(), inner)
    wide = kl.apsp(kl.generate.grid(9, 9).reweight(1.5), device="cuda", keep="device")
    there = wide.device_arrays.distances  # float64: through the host
    got = kl.product(there, there)
    assert np.array_equal(got.to_numpy(), kl.product(wide.distances, wide.distances, device="cpu"))


def test_views_and_empty_arrays(cuda: FakeGpu) -> None:
    a, b = factors("min_plus", "float32")
    wanted = kl.product(a, b, device="cpu")
    assert np.array_equal(kl.product(Tensor.of(a.T).T, Tensor.of(b.T).T).get(), wanted)
    wide = Tensor.of(np.pad(a, ((2, 1), (3, 4))))
    part = Tensor(wide.array[2:72, 3:143])
    assert np.array_equal(kl.product(part, Tensor.of(b)).get(), wanted)
    none = kl.product(Tensor.of(np.zeros((3, 0))), Tensor.of(np.zeros((0, 2))))
    assert none.get().tolist() == [[np.inf] * 2] * 3


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"B": np.ones((2, 2), np.float32)}, "B is in host memory"),
        ({"out": np.ones((2, 2), np.float32)}, "out is in host memory"),
        ({"device": "cpu"}, "device must be 'auto' or 'cuda'"),
        ({"dtype": "float64"}, "dtype must be the same"),
        ({"B": np.ones((2, 2)), "there": True}, "A is float32 and B is float64"),
        ({"B": np.ones((3, 2), np.float32), "there": True}, "A has 2 columns but B has 3 rows"),
        ({"B": np.ones(2, np.float32), "there": True}, "B must be a matrix"),
        ({"B": np.ones((2, 2), np.float16), "there": True}, "B must be int16"),
        ({"B": np.full((2, 2), np.nan, np.float32), "there": True}, "B holds nan"),
        ({"B": np.full((2, 2), -np.inf, np.float32), "there": True}, "B holds -inf"),
        ({"out": np.ones((2, 3), np.float32), "there": True}, "out must be a float32 array"),
    ],
)
def test_refusals(cuda: FakeGpu, how: dict[str, Any], message: str) -> None:
    there = how.get("there", False)
    given = {
        name: Tensor.of(value) if there else value for name, value in how.items() if name != "there"
    }
    ones = np.ones((2, 2), np.float32)
    with pytest.raises(kl.RequestError, match=message):
        kl.product(**{"A": Tensor.of(ones), "B": Tensor.of(ones), **given})


def test_device_memory(cuda: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    a = Tensor.of(np.zeros((600, 600), np.float32))
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "5M")
    with pytest.raises(MemoryBudgetError, match="Fake GPU"):
        kl.product(a, a)


def test_the_gpu_is_chosen_where_it_pays() -> None:
    box = Machine(4, None, "avx2", ("cuda", "cpu"), gpu_memory=2**34)
    for n, device in ((100, "cpu"), (8192, "cuda")):
        ask = Ask.of("product", sources=n, predecessors=False, dtype="float32")
        facts = Facts(n, 2 * n * n, "float32", 0, 0, 0)
        assert make_plan(facts, ask, box).device == device


class HostTensor:
    """An array of another library in host memory: nothing but DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __array_namespace__(self) -> Any:
        library = ModuleType("tensors")
        library.from_dlpack = HostTensor  # type: ignore[attr-defined]
        return library


def test_memory_of_another_library_for_the_values() -> None:
    class Torch(HostTensor):
        def detach(self) -> Torch:
            return self

        def numpy(self) -> Any:
            return self.array

    a, b = factors("min_plus", "float64")
    out = Torch(np.zeros((70, 30)))
    assert kl.product(a, b, out=out) is out
    assert np.array_equal(out.array, kl.product(a, b))


def test_types_that_numpy_lacks() -> None:
    class Short(HostTensor):
        def __dlpack__(self, **how: Any) -> Any:
            raise BufferError("bfloat16 is not supported")

    with pytest.raises(kl.RequestError, match="A cannot be read by NumPy: bfloat16"):
        kl.product(Short(None), np.ones((2, 2)))


def test_arrays_in_host_memory() -> None:
    a, b = factors("max_plus", "float64")
    wanted, inner = kl.product(a, b, "max_plus", argmin=True)
    got, chosen = kl.product(HostTensor(a), HostTensor(b), "max_plus", argmin=True)
    assert isinstance(got, HostTensor)
    assert np.array_equal(got.array, wanted)
    assert np.array_equal(chosen.array, inner)
