"""Stands in for NVIDIA's driver where there is none: the emulator runs the kernels.

``cuda.core`` and ``cuda.bindings`` are the real ones. They find the functions of fake_gpu.py in
place of a driver's, so that the device runs, down to the last call, in every test. A call that is
not there fails.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kleene.backends.cuda.runtime import cuda_startup
from kleene.system import devices

if TYPE_CHECKING:
    from fake_gpu import FakeGpu

UNKNOWN = 999  # the status of a fault of the tests

_gpus: list[FakeGpu] = []  # the last is the one that the driver has
_calls: dict[str, Any] = {}
_kept: dict[str, Any] = {}  # what C has the address of


class DriverFailure(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


def call(*types_: Any, name: str = "", also: Sequence[str] = ()) -> Callable[[Any], Any]:
    """Register a method of the GPU as a function of the driver; what it raises is its status."""

    def register(method: Any) -> Any:
        for each in (name or method.__name__, *also):
            _calls[each] = ctypes.CFUNCTYPE(c_int, *types_)(_function(each, method))
        return method

    return register


def _function(name: str, method: Any) -> Callable[..., int]:
    def function(*args: Any) -> int:
        gpu = _gpus[-1]
        try:
            gpu.log.append(name)
            gpu.require_context(name)
            method(gpu, *args)
            return gpu.failing.get(name, 0)
        except DriverFailure as error:
            return error.status
        except Exception as error:
            print(f"{name}: {error!r}", file=sys.stderr)
            return UNKNOWN

    return function


def c_string(text: str) -> int:
    """Return the address of a string of C, which lives as long as the process."""
    return ctypes.addressof(_kept.setdefault(text, ctypes.create_string_buffer(text.encode())))


@contextmanager
def installed_gpu(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[FakeGpu]:
    """Yield a GPU that device "cuda" opens, with the folder of its compiled kernels."""
    _load()
    from fake_gpu import FakeGpu

    from kleene.backends.cuda.runtime import cuda_kernel

    _gpus.append(fake := FakeGpu())
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(cache))
    monkeypatch.setattr(devices, "missing", lambda: None)
    monkeypatch.setattr(devices, "library", lambda: None)
    fake.nvrtc = cuda_kernel.compile_image
    monkeypatch.setattr(cuda_kernel, "compile_image", fake.compile_image)
    monkeypatch.setattr(cuda_startup, "_opened", {})
    yield fake
    gc.collect()


@cache
def _load() -> None:
    """Let ``cuda.bindings`` call this file, for the rest of the process."""
    driver = pytest.importorskip("cuda.bindings._internal.driver")
    compiler = shutil.which("cc")
    if devices.library() is not None or compiler is None:
        pytest.skip("there is a real driver, or no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "libcuda.so"
        source = Path(__file__).parent / "fake_libcuda.c"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", target, source], check=True)
        library = ctypes.CDLL(str(target))
    _kept["resolver"] = resolve = ctypes.CFUNCTYPE(c_size_t, c_char_p)(_address)
    library.set_resolver(resolve)
    atexit.register(library.end)
    found = types.SimpleNamespace(_handle_uint=library._handle)
    driver.load_nvidia_dynamic_lib = lambda name: found


def _address(name: bytes) -> int:
    function = _calls.get(name.decode())
    return 0 if function is None else ctypes.cast(function, c_void_p).value or 0
