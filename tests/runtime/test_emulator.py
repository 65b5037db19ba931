"""The emulator itself: right kernels pass under every schedule, and planted errors are caught."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from importlib import util
from typing import Any

import numpy as np
import pytest

from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.errors import KernelError, MemoryBudgetError

SEEDS = (0, 1, 2, 77)
CHECKED = util.find_spec("kleene._emulator_checked") is not None

pytestmark = pytest.mark.skipif(
    util.find_spec("kleene._emulator_tests") is None,
    reason="built without KLEENE_EMULATOR_TESTS",
)
MODULES = ["_emulator_tests", "_emulator_checked"] if CHECKED else ["_emulator_tests"]
needs_checks = pytest.mark.skipif(not CHECKED, reason="built without the checked emulator")


def test_continuous_integration_has_the_checked_emulator() -> None:
    assert CHECKED


def device(seed: int = 0, module: str = "_emulator_tests") -> EmulatedDevice:
    return EmulatedDevice(seed, module, yields=2000)


# ---- right kernels ------------------------------------------------------------------------------

VALUES = np.random.default_rng(0).integers(-9, 99, 1000).astype(np.int32)
PADDED = np.append(VALUES, np.zeros(24, np.int32))


def block_sum(d: EmulatedDevice) -> None:
    out = d.empty(8, np.int32)
    d.kernels("barriers")["block_sum"].launch((8,), (128,), (d.upload(VALUES), out, 1000), 512)
    assert d.download(out).tolist() == PADDED.reshape(8, 128).sum(axis=1).tolist()


def warp_sum(d: EmulatedDevice) -> None:
    out = d.empty(4, np.int32)
    d.kernels("barriers")["warp_sum"].launch((4,), (256,), (d.upload(VALUES), out, 1000))
    assert d.download(out).tolist() == PADDED.reshape(4, 256).sum(axis=1).tolist()


def block_scan(d: EmulatedDevice) -> None:
    out = d.empty(1000, np.int32)
    d.kernels("barriers")["block_scan"].launch((8,), (128,), (d.upload(VALUES), out, 1000), 512)
    wanted = PADDED.reshape(8, 128).cumsum(axis=1).ravel()[:1000]
    assert d.download(out).tolist() == wanted.tolist()


def block_votes(d: EmulatedDevice) -> None:
    out = d.empty(3, np.int32)
    d.kernels("barriers")["block_votes"].launch((1,), (96,), (d.upload(VALUES[:96]), out))
    positive = VALUES[:96] > 0
    assert d.download(out).tolist() == [positive.sum(), positive.any(), positive.all()]


def warp_zoo(d: EmulatedDevice) -> None:
    v, out = VALUES[:32], d.empty((8, 32), np.int64)
    d.kernels("barriers")["warp_zoo"].launch((1,), (32,), (d.upload(v), out))
    lane = np.arange(32)
    got = d.download(out)
    bits = (1 << lane.astype(np.int64)).tolist()
    assert set(got[0]) == {sum(b for b, x in zip(bits, v, strict=True) if x & 1)}
    assert got[1].tolist() == v[lane ^ 5].tolist()
    assert got[2].tolist() == [int(v[i - 3] if i % 16 >= 3 else v[i]) for i in lane]
    rest = np.fmod(v, 3)
    assert got[3].tolist() == [sum(b for b, x in zip(bits, rest, strict=True) if x == y)
                               for y in rest]  # fmt: skip
    assert set(got[4]) == {v.min()}
    assert got[5].tolist() == (v[lane // 2].astype(np.int64) << 33).tolist()
    assert (
        got[6].tolist()
        == [int((v[:8] > 100).any()) + 2 * int((v[:8] > -100).all())] * 8 + [v[8:].max()] * 24
    )
    assert set(got[7]) == {0}


def grid_rounds(d: EmulatedDevice) -> None:
    a, b = d.upload(np.arange(64, dtype=np.int32)), d.empty(64, np.int32)
    state = d.zeros(1, np.uint32)
    kernel = d.kernels("barriers")["grid_rounds"]
    kernel.launch((4,), (16,), (a, b, 5, state), cooperative=True)
    wanted = np.arange(64)
    for _ in range(5):
        wanted = wanted + np.roll(wanted, -16)
    assert d.download(a).tolist() == wanted.tolist()


def block_chain(d: EmulatedDevice) -> None:
    total, turn = d.zeros(1, np.int32), d.zeros(1, np.int32)
    d.kernels("barriers")["block_chain"].launch((4,), (64,), (total, turn), cooperative=True)
    assert d.download(total)[0] == sum(range(256))


def copy_pipeline(d: EmulatedDevice) -> None:
    values = np.arange(512, dtype=np.int32)
    out = d.empty(512, np.int32)
    kernel = d.kernels("barriers")["copy_pipeline"]
    kernel.launch((1,), (32,), (d.upload(values), out, 4), 1024)
    wanted = np.roll(values.reshape(4, 32, 4), -1, axis=1)
    assert d.download(out).tolist() == wanted.ravel().tolist()


def transpose(d: EmulatedDevice) -> None:
    matrix = np.random.default_rng(1).random((40, 40), np.float32)
    out = d.empty((40, 40), np.float32)
    d.kernels("memory")["good_transpose"].launch((3, 3), (16, 16), (d.upload(matrix), out, 40))
    assert (d.download(out) == matrix.T).all()


def last_block(d: EmulatedDevice) -> None:
    values = d.upload(np.arange(256, dtype=np.int32))
    part, total, ticket = d.empty(4, np.int32), d.zeros(1, np.int32), d.zeros(1, np.uint32)
    kernel = d.kernels("memory")["good_last_block"]
    kernel.launch((4,), (64,), (values, part, total, ticket), 65 * 4)
    assert d.download(total)[0] == 256 * 255 // 2


def warp_exchange(d: EmulatedDevice) -> None:
    out = d.empty(64, np.int32)
    d.kernels("memory")["good_warp_exchange"].launch((1,), (64,), (out,))
    assert d.download(out).tolist() == (np.arange(64) ^ 1).tolist()


def same_value(d: EmulatedDevice) -> None:
    flag = d.zeros(1, np.int32)
    d.kernels("memory")["good_same_value"].launch((4,), (64,), (flag,))
    assert d.download(flag)[0] == 7


RIGHT = [block_sum, warp_sum, block_scan, block_votes, warp_zoo, grid_rounds, block_chain]
RIGHT += [copy_pipeline, transpose, last_block, warp_exchange, same_value]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.__name__)
def test_right_kernels(case: Callable[[EmulatedDevice], None], seed: int, module: str) -> None:
    case(device(seed, module))


def test_many_blocks_on_several_threads() -> None:
    d = device()
    values = np.ones(1 << 17, np.int32)
    out = d.empty(1 << 10, np.int32)
    d.kernels("barriers")["block_sum"].launch((1 << 10,), (128,), (d.upload(values), out, 1 << 17),
                                              512)  # fmt: skip
    assert set(d.download(out)) == {128}


# ---- wrong kernels ------------------------------------------------------------------------------

WRONG = [
    ("bad_early_exit", 1, 32, (20,), {}, "has left the kernel while thread (19, 0, 0) waits"),
    ("bad_two_places", 1, 32, (), {}, "it waits at __syncthreads in barriers.cu:"),
    ("bad_uneven_loop", 1, 64, (), {}, "barrier divergence"),
    ("bad_warp_mask", 1, 32, (), {}, "deadlock: it waits in a warp operation for lane"),
    ("bad_own_lane", 1, 32, (), {}, "leaves out the calling lane"),
    ("bad_masks_differ", 1, 32, (), {}, "warp divergence: it calls __any_sync"),
    ("bad_gone_lane", 1, 32, (), {}, "reads from lane 7, which has left"),
    ("bad_trap", 1, 32, (), {}, "__trap"),
    ("bad_spin", 2, 32, (), {}, "deadlock: it still waits"),
    ("bad_spin_atomic", 1, 32, (), {}, "deadlock: it still waits"),
    ("bad_grid_exit", 3, 32, ("state",), {"cooperative": True}, "block (1, 0, 0): barrier diverg"),
    ("bad_grid_exit", 1, 32, ("state",), {}, "not cooperative"),
]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "grid", "block", "more", "options", "expected"), WRONG)
def test_wrong_kernels(
    name: str, grid: int, block: int, more: tuple[Any, ...], options: dict[str, Any], expected: str,
    seed: int, module: str,
) -> None:  # fmt: skip
    d = device(seed, module)
    out, state = d.zeros(64, np.int32, "out"), d.zeros(1, np.uint32, "state")
    args = (out, *(state if arg == "state" else arg for arg in more))
    with pytest.raises(KernelError) as caught:  # noqa: PT012 - it may be thrown by either
        d.kernels("barriers")[name].launch((grid,), (block,), args, **options)
        d.synchronize()
    message = str(caught.value)
    assert message.startswith(f"kernel {name} (barriers.cu), block (")
    assert "thread (" in message or "cooperative" in options
    assert "barriers.cu:" in message
    assert expected in message
    block_sum(d)  # and nothing is broken


@pytest.mark.parametrize("seed", SEEDS)
def test_data_of_a_copy_is_not_there_before_the_wait(seed: int) -> None:
    d = device(seed)
    values = np.arange(128, dtype=np.int32)
    out = d.empty(128, np.int32)
    d.kernels("barriers")["bad_missing_wait"].launch((1,), (32,), (d.upload(values), out), 1024)
    assert not (d.download(out) == values).any()


CONFLICTS = [
    ("bad_past_end", 1, 128, ("o", 64), 0, "writes 4 bytes at the end of array 'o' of 64 numbers"),
    ("bad_before_start", 1, 64, ("i", "o"), 0, "reads 4 bytes, 4 bytes before the start of array"),
    ("bad_shared_end", 1, 64, ("o",), 256, "at the end of 256 bytes of dynamic shared memory"),
    ("bad_unwritten", 1, 64, ("o",), 0, "reads uninitialised shared memory"),
    ("bad_missing_barrier", 1, 64, ("o",), 0, ""),
    ("bad_missing_second_barrier", 1, 64, ("o",), 256, "conflict: it "),
    ("bad_missing_syncwarp", 1, 32, ("o",), 0, ""),
    ("bad_lost_update", 1, 2, ("z",), 0, "number 0 of array 'z'"),
    ("bad_lost_update", 2, 1, ("z",), 0, "the other is block ("),
    ("bad_between_blocks", 2, 32, ("z",), 0, "the other is block ("),
    ("bad_half_atomic", 1, 64, ("z", "o"), 0, "conflict"),
    ("bad_copy_barrier", 1, 64, ("i", "o"), 1024, ""),
]


@needs_checks
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "grid", "block", "names", "shared", "expected"), CONFLICTS)
def test_what_the_checked_build_catches(
    name: str, grid: int, block: int, names: tuple[Any, ...], shared: int, expected: str, seed: int
) -> None:
    d = device(seed, "_emulator_checked")
    arrays = {
        "o": d.zeros(64 if name != "bad_copy_barrier" else 256, np.int32, "o"),
        "i": d.zeros(256, np.int32, "i"),
        "z": d.zeros(64, np.int32, "z"),
    }
    with pytest.raises(KernelError) as caught:  # noqa: PT012 - it may be thrown by either
        args = [arrays.get(arg, arg) if isinstance(arg, str) else arg for arg in names]
        d.kernels("memory")[name].launch((grid,), (block,), args, shared)
        d.synchronize()
    message = str(caught.value)
    assert message.startswith(f"kernel {name} (memory.cu), block (")
    assert expected in message
    assert "memory.cu:" in message, "the source line"


@needs_checks
def test_an_array_that_is_gone() -> None:
    d = device(0, "_emulator_checked")
    kept, gone = d.zeros(64, np.int32, "kept"), d.zeros(64, np.int32, "gone")
    room = gone.owner._memory  # type: ignore[attr-defined]  # so that the address is not used again
    gone = type(gone)(gone.address, gone.shape, gone.dtype, gone.strides, None, "gone")
    with pytest.raises(KernelError, match="out of range"):
        d.kernels("memory")["bad_past_end"].launch((1,), (32,), (gone, 32))
    assert len(room) > kept.nbytes


# ---- launches -----------------------------------------------------------------------------------


def test_what_a_driver_would_refuse() -> None:
    d = device()
    values, out = d.upload(VALUES), d.empty(8, np.int32)
    kernels = d.kernels("barriers")
    launch = kernels["block_sum"].launch
    with pytest.raises(KernelError, match=r"a grid of \(0, 1, 1\) blocks"):
        launch((0,), (32,), (values, out, 1000))
    with pytest.raises(KernelError, match="at most 1024 allowed"):
        launch((1,), (2048,), (values, out, 1000))
    with pytest.raises(KernelError, match="at most 256 allowed"):
        kernels["warp_sum"].launch((1,), (512,), (values, out, 1000))
    with pytest.raises(KernelError, match="bytes of shared memory"):
        launch((1,), (32,), (values, out, 1000), 10**6)
    with pytest.raises(KernelError, match="cooperative blocks, with room for 8"):
        launch((9,), (1024,), (values, out, 1000), cooperative=True)
    assert kernels["block_sum"].resident_blocks(1024) == 8


def test_arguments_are_checked() -> None:
    d = device()
    values, out = d.upload(VALUES), d.empty(8, np.int32)
    launch = d.kernels("barriers")["block_sum"].launch
    with pytest.raises(TypeError, match="takes 3 arguments, not 2"):
        launch((1,), (32,), (values, out))
    with pytest.raises(TypeError, match=r"argument 0 .* is \*i4"):
        launch((1,), (32,), (d.zeros(4, np.float32), out, 4))
    with pytest.raises(TypeError, match="argument 2"):
        launch((1,), (32,), (values, out, 2.5))
    with pytest.raises(TypeError, match="argument 2"):
        launch((1,), (32,), (values, out, np.int64(4)))
    with pytest.raises(TypeError):
        launch((1,), (32,), (values, out, 2**40))


def test_control_c_stops_a_kernel() -> None:
    d = EmulatedDevice(0, "_emulator_tests", yields=2**31)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    for options in ({}, {"cooperative": True}):
        flag = d.zeros(1, np.int32)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            d.kernels("barriers")["bad_spin"].launch((2,), (32,), (flag,), **options)
        timer.join()
    block_sum(d)


# ---- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", MODULES)
def test_combined_operations_on_words(module: str) -> None:
    d = device(1, module)
    rng = np.random.default_rng(2)
    x, y, z = rng.integers(-(2**31), 2**31, (3, 50)).astype(np.int32)
    out = d.empty((12, 50), np.int32)
    kernel = d.kernels("numbers")["dpx_words"]
    kernel.launch((2,), (32,), (d.upload(x), d.upload(y), d.upload(z), out, 50))
    signed, u = x + y, [v.view(np.uint32) for v in (x, y, z)]
    unsigned = u[0] + u[1]
    wanted = [np.minimum(signed, z), np.maximum(signed, z), np.minimum(np.minimum(x, y), z),
              np.maximum(np.maximum(x, y), z), np.minimum(unsigned, u[2]),
              np.maximum(unsigned, u[2]), np.minimum(np.minimum(u[0], u[1]), u[2]),
              np.maximum(np.maximum(u[0], u[1]), u[2]), np.minimum(x, y), x <= y,
              np.maximum(u[0], u[1]), u[0] >= u[1]]  # fmt: skip
    for row, values in zip(d.download(out), wanted, strict=True):
        assert row.tolist() == values.astype(np.int32).tolist()


def test_combined_operations_on_halves() -> None:
    d = device()
    rng = np.random.default_rng(3)
    s = rng.integers(-(2**15), 2**15, (3, 100)).astype(np.int16)
    out = d.empty((13, 50), np.uint32)
    arrays = [d.upload(v.view(np.uint32)) for v in s]
    d.kernels("numbers")["dpx_halves"].launch((2,), (32,), (*arrays, out, 50))
    u = s.view(np.uint16)
    wanted = []
    for x, y, z in (s, u):
        total = x + y
        wanted += [np.minimum(total, z), np.maximum(total, z)]
        wanted += [np.minimum(np.minimum(x, y), z), np.maximum(np.maximum(x, y), z)]
    wanted += [np.minimum(s[0], s[1]), np.maximum(s[0], s[1])]
    wanted += [np.minimum(u[0], u[1]), np.maximum(u[0], u[1]), u[0] + u[1]]
    for row, values in zip(d.download(out), wanted, strict=True):
        assert row.view(np.uint16).tolist() == values.view(np.uint16).tolist()


def test_bits() -> None:
    d = device()
    rng = np.random.default_rng(4)
    x, y = (v.tolist() for v in rng.integers(1, 2**32, (2, 20)).astype(np.uint32))
    out = d.empty((15, 20), np.uint32)
    arrays = [d.upload(np.array(v, np.uint32)) for v in (x, y)]
    d.kernels("numbers")["bit_tricks"].launch((1,), (32,), (*arrays, out, 20))

    def reverse(v: int, width: int) -> int:
        return int(f"{v:0{width}b}"[::-1], 2)

    def tricks(a: int, b: int) -> list[int]:
        both, other = a << 32 | b, b << 32 | a  # by halves; as __byte_perm and shifts see them
        low = (both & -both).bit_length()
        picked = [other >> 8 * i & 0xFF for i in (7, 2, 1, 6)]
        return [
            a.bit_count() + 100 * both.bit_count(),
            (32 - a.bit_length()) + 100 * (64 - both.bit_length()),
            (a & -a).bit_length() + 100 * low,
            reverse(a, 32) ^ reverse(both, 64) & 0xFFFFFFFF,
            sum(byte << 8 * i for i, byte in enumerate(picked)),
            other << 9 >> 32 & 0xFFFFFFFF,
            other >> 9 & 0xFFFFFFFF,
            a * b >> 32,
            a & 0x3FFFFFFF,
            7,
            b,
            (min(a, b) + 2 + 3) & 0xFFFFFFFF,
            a,
            24,
            24,
        ]

    wanted = [tricks(a, b) for a, b in zip(x, y, strict=True)]
    assert d.download(out).T.tolist() == wanted


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("seed", SEEDS)
def test_atomics(seed: int, module: str) -> None:
    d = device(seed, module)
    i, u, w = np.zeros(9, np.int32), np.zeros(4, np.uint32), np.zeros(3, np.uint64)
    i[6], u[2] = -1, 100
    arrays = [d.upload(v) for v in (i, u, w, np.zeros(1, np.float32), np.zeros(1))]
    d.kernels("numbers")["atomics"].launch((8,), (64,), arrays)
    n, t = 512, np.arange(512)
    got = [d.download(a).tolist() for a in arrays]
    assert got[0] == [t.sum(), -t.sum(), -511, 511, 511, 0, -512, 5, 9]
    assert got[1] == [n, n % 5, 7, 511]
    assert got[2] == [n << 33, 511 << 33, 11]
    assert got[3] + got[4] == [n / 2, n / 4]


# ---- memory and streams -------------------------------------------------------------------------


def test_memory_is_counted_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    d = EmulatedDevice(memory=1000)
    a = d.empty((10, 10), np.float32)
    assert d.free_memory() == 600
    with pytest.raises(MemoryBudgetError, match="requested on the emulator"):
        d.empty(200, np.float32)
    part = a[2:4]
    del a
    assert d.free_memory() == 600
    del part
    assert d.free_memory() == 1000
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", "0.5K")
    assert d.free_memory() == 512


def test_rectangles_are_copied() -> None:
    d = EmulatedDevice(3)
    host = np.arange(48, dtype=np.int16).reshape(6, 8)
    a, b = d.upload(host), d.zeros((3, 4), np.int16)
    d.copy(b, a[1:4, 2:6])
    assert d.download(b).tolist() == host[1:4, 2:6].tolist()
    d.copy(a[0:2, 0:2], host[4:6, 6:8])
    assert d.download(a[:2, :3]).tolist() == [[38, 39, 2], [46, 47, 10]]
    d.fill(a[2:, 1:3], 0xFF)
    assert d.download(a)[3].tolist() == [24, -1, -1, 27, 28, 29, 30, 31]
    with pytest.raises(TypeError):
        d.copy(a, host[:2])


def test_streams_are_not_in_order_unless_events_say_so() -> None:
    """Some schedule shows a missing wait; none disturbs a program that has it."""
    seen = {ordered: set() for ordered in (False, True)}  # type: dict[bool, set[int]]
    for seed in range(8):
        for ordered in (False, True):
            d = EmulatedDevice(seed)
            one, two = d.stream(), d.stream()
            a, b = d.zeros(1, np.int32), d.zeros(1, np.int32)
            d.synchronize()
            d.fill(a, 1, one)
            if ordered:
                two.wait(one.record())
            d.copy(b, a, two)
            seen[ordered].add(int(d.download(b, stream=two)[0]))
    assert seen[True] == {0x01010101}
    assert seen[False] == {0, 0x01010101}


@pytest.mark.parametrize("seed", SEEDS)
def test_graphs(seed: int) -> None:
    d = EmulatedDevice(seed)
    one, two = d.stream(), d.stream()
    a, b, c = (d.zeros(4, np.int32) for _ in range(3))
    host = d.pinned(4, np.int32)
    host[...] = 5
    d.synchronize()
    with one.capture() as captured:
        d.copy(a, host, one)
        two.wait(one.record())
        d.copy(b, a, two)
        d.copy(c, a, one)
        one.wait(two.record())
        d.copy(host, b, one)
    assert d.download(a).tolist() == [0] * 4
    for value in (5, 6):
        host[...] = value
        captured.graph.launch(one)
        one.synchronize()
        assert d.download(c).tolist() == host.tolist() == [value] * 4
    assert two.record().milliseconds_since(one.record()) is not None


def test_captures_that_a_driver_would_refuse() -> None:
    d = EmulatedDevice()
    one, two, a = d.stream(), d.stream(), d.zeros(4, np.int32)
    with pytest.raises(KernelError, match="was not waited for"), one.capture():  # noqa: PT012
        two.wait(one.record())
        d.fill(a, 1, two)
    with pytest.raises(KernelError, match="cannot be allocated"), one.capture():
        d.empty(4, np.int32)
    with pytest.raises(KernelError, match="pageable"), one.capture():
        d.copy(a, np.zeros(4, np.int32), one)
    with pytest.raises(KernelError, match="cannot synchronise"), one.capture():
        one.synchronize()
    assert d.download(a).tolist() == [0] * 4


def test_a_kernel_that_does_not_exist() -> None:
    with pytest.raises(LookupError, match="no variant 'KL_TYPE=half' of apsp_naive"):
        EmulatedDevice().kernels("apsp_naive", KL_TYPE="half")
