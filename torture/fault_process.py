"""The process that faults are put into: started by ``torture.faults`` with its library preloaded.

Reads what to try from standard input, one JSON object; writes a line before each attempt and one
after each fault kind of a case, so that the parent knows what a crash interrupted.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import faulthandler
import gc
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numpy._core import multiarray

from kleene import _native
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice, open_emulated
from kleene.errors import DeviceError, KleeneError, MemoryBudgetError
from torture.fault_cases import Case, all_cases, as_plain, missing_natives

#: Kinds of the library, in its order.
KINDS = ("memory", "thread", "write", "fsync", "mmap", "fallocate", "rename", "read")

#: Errors that a fault may end in. A thread that does not start is done without.
ALLOWED: dict[str, tuple[type[BaseException], ...]] = {
    "memory": (MemoryError,),
    "device": (MemoryError,),
    "thread": (),
}
FILE_ERRORS = (OSError, KleeneError)

_HANG = 60  # seconds
_ATTEMPTS = 5  # of which a leak shows in all
_MOST_EMULATED = 40  # attempts; every fiber of every launch takes memory
_SET_HANDLER = 304  # PyDataMem_SetHandler in NumPy's table of functions
_OLD = b"old"


class Faults:
    """The preloaded library."""

    def __init__(self) -> None:
        open_emulated()  # loads its module
        self.library = ctypes.CDLL(None)
        self.library.fault_add_range.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
        self.library.fault_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]
        for name in ("fault_disarm", "fault_live_blocks", "fault_live_bytes"):
            getattr(self.library, name).restype = ctypes.c_long
        for line in Path("/proc/self/maps").read_text().splitlines():
            place, flags, *_, path = (*line.split(maxsplit=5), "")[:6]
            for whose, part in enumerate((r"kleene/_\w+\.", r"libstdc\+\+", r"faults\.so")):
                if "x" in flags and re.search(part, path):
                    begin, end = (int(at, 16) for at in place.split("-"))
                    self.library.fault_add_range(begin, end, whose)
        self._hook_numpy()

    def _hook_numpy(self) -> None:
        """Let NumPy take the memory of arrays from the library, in this thread."""
        python = ctypes.pythonapi
        python.PyCapsule_GetPointer.restype = ctypes.c_void_p
        python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        python.PyCapsule_New.restype = ctypes.py_object
        python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        table = python.PyCapsule_GetPointer(multiarray._ARRAY_API, None)
        address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_SET_HANDLER]
        set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)
        handler = ctypes.addressof(ctypes.c_char.in_dll(self.library, "fault_numpy_handler"))
        self.before = set_handler(python.PyCapsule_New(handler, b"mem_handler", None))

    @contextlib.contextmanager
    def at(self, kind: str, number: int, error: int, lasts: bool) -> Iterator[list[int]]:
        """Let the call of this number fail within the block; yield where the count will be."""
        count = [0]
        if kind == "device":
            with _device_faults(number, count):
                yield count
            return
        if kind == "thread":
            _end_waiting_threads()
        self.library.fault_arm(KINDS.index(kind), number, error, lasts)
        try:
            yield count
        finally:
            count[0] = self.library.fault_disarm()


def _end_waiting_threads() -> None:
    """End the threads that wait for the next call, so that it has to start some: a fork does."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@contextlib.contextmanager
def _device_faults(number: int, count: list[int]) -> Iterator[None]:
    """Let an allocation on the emulated device fail."""

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def allocate(self: EmulatedDevice, *args: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] == number:
                raise MemoryBudgetError("out of memory, by order of the campaign")
            return real(self, *args, **options)

        return allocate

    real = {name: getattr(EmulatedDevice, name) for name in ("empty", "pinned")}
    try:
        for name, function in real.items():
            setattr(EmulatedDevice, name, counting(function))
        yield
    finally:
        for name, function in real.items():
            setattr(EmulatedDevice, name, function)


# ---- one case -----------------------------------------------------------------------------------


class Trial:
    """One case: its right answer, and attempts with a fault."""

    def __init__(self, faults: Faults, case: Case, folder: Path) -> None:
        self.faults, self.case, self.folder = faults, case, folder
        for _ in range(2):  # the second call finds what the first one kept for later
            self.right = self._answer(self._prepare(False))
        self.failures: list[str] = []

    def count(self, kind: str) -> int:
        """Return how many calls of this kind the case makes."""
        call = self._prepare(False)
        with self.faults.at(kind, 0, 0, False) as count:
            self._answer(call)
        return count[0]

    def attempt(self, kind: str, number: int, error: int, lasts: bool, old: bool) -> None:
        """Call with a fault; note what is wrong afterwards."""
        old = old and self.case.replaces
        where = f"{self.case.name}: {kind} {number}{' and all after' if lasts else ''}"
        if kind in KINDS[2:]:
            where += f" ({errno.errorcode[error]})"
        say("try", where)
        faulthandler.dump_traceback_later(_HANG, exit=True)
        for left in reversed(range(_ATTEMPTS)):
            self.faults.library.fault_follow()
            device = _device_bytes(self.case)
            wrong = self._attempt(kind, number, error, lasts, old)
            if kind == "thread":
                _end_waiting_threads()  # which are no leak
            gc.collect()
            blocks = self.faults.library.fault_live_blocks()
            size = self.faults.library.fault_live_bytes()
            self.faults.library.fault_unfollow()
            if wrong is None and _device_bytes(self.case) != device:
                wrong = f"{_device_bytes(self.case) - device} bytes leaked on the device"
            if wrong is not None or blocks == 0:
                break
            if not left:  # what each thread kept for later calls is not kept once more
                wrong = f"{blocks} blocks leaked, {size} bytes"
        faulthandler.cancel_dump_traceback_later()
        if wrong is not None:
            self.failures.append(f"{where}: {wrong}")

    def _attempt(self, kind: str, number: int, error: int, lasts: bool, old: bool) -> str | None:
        call = self._prepare(old)
        before = set(os.listdir(self.folder))
        raised = ""
        with self.faults.at(kind, number, error, lasts):
            try:
                answer: Any = call()
            except BaseException as caught:
                answer, raised = None, f"{type(caught).__name__}: {caught}"
                allowed = isinstance(caught, self._allowed(kind))
        if raised and not allowed:
            return f"raised {raised}"
        if not raised and as_plain(_open(answer)) != self.right:
            return "another answer"
        if raised and (wrong := self._wrong_files(before, old)):
            return f"{wrong} after {raised}"
        try:
            again = as_plain(_open(call()))
        except Exception as error:
            return f"raised {type(error).__name__}: {error} when called again"
        return None if again == self.right else "another answer when called again"

    def _allowed(self, kind: str) -> tuple[type[BaseException], ...]:
        if kind == "thread" and self.case.device == "emulated":
            return (DeviceError,)  # a cooperative launch
        return ALLOWED.get(kind, FILE_ERRORS)

    def _wrong_files(self, before: set[str], old: bool) -> str | None:
        """Return what is wrong in the folder after a call that raised."""
        final = self.case.final
        after = set(os.listdir(self.folder))
        if extra := after - before - {final, *self.case.leaves}:
            return f"left {', '.join(sorted(extra))}"
        if final is None or (final not in after and not old):
            return None
        if final not in after:
            return "the old file is gone"
        content = (self.folder / final).read_bytes()
        if old and content == _OLD:
            return None
        return None if content == self.file else f"{len(content)} bytes under the final name"

    def _prepare(self, old: bool) -> Callable[[], Any]:
        for name in os.listdir(self.folder):
            if (self.folder / name).is_dir():
                shutil.rmtree(self.folder / name)
            else:
                os.unlink(self.folder / name)
        call = self.case.prepare(self.folder)
        if self.case.final is not None:
            if (self.folder / self.case.final).exists():
                os.unlink(self.folder / self.case.final)
            if old:
                (self.folder / self.case.final).write_bytes(_OLD)
        return call

    def _answer(self, call: Callable[[], Any]) -> Any:
        answer = as_plain(_open(call()))
        if self.case.final is not None:
            self.file = (self.folder / self.case.final).read_bytes()
        return answer


def _open(answer: Any) -> Any:
    """Return the answer; a writer's is a function that reads the file back."""
    return answer() if callable(answer) else answer


def _device_bytes(case: Case) -> int:
    return open_emulated().allocated if case.device == "emulated" else 0


# ---- all of them --------------------------------------------------------------------------------


def say(what: str, *values: Any) -> None:
    """Write a line for the parent."""
    os.write(1, (json.dumps([what, *values]) + "\n").encode())


def kinds_of(case: Case) -> tuple[str, ...]:
    """Return the faults that make sense for a case."""
    if case.device == "emulated":
        return ("device", "memory", "thread")
    return KINDS if case.final is not None else (*KINDS[:2], "mmap", "read")


def errors_of(kind: str) -> tuple[int, ...]:
    if kind in ("write", "fallocate", "rename"):
        return (errno.ENOSPC, errno.EIO)
    return (errno.ENOMEM,) if kind == "mmap" else (errno.EIO,)


def natives_called(cases: list[Case], folder: Path) -> set[str]:
    """Return the native functions that the cases call."""
    called: set[str] = set()
    real = {name: getattr(_native, name) for name in missing_natives(set())}

    def noting(name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            called.add(name)
            return real[name](*args, **options)

        return call

    for name in real:
        setattr(_native, name, noting(name))
    for case in cases:
        if case.device == "cpu":
            call = case.prepare(folder)
            call()
        for name in os.listdir(folder):
            os.unlink(folder / name)
    for name, function in real.items():
        setattr(_native, name, function)
    return called


def main() -> None:
    orders = json.load(sys.stdin)
    by_name = {case.name: case for case in all_cases()}
    warnings.simplefilter("ignore")  # NetworkX's about its cache
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None))
    try:
        if orders.get("list"):
            say("cases", [[name, kinds_of(case)] for name, case in by_name.items()])
            say("missing", missing_natives(natives_called(list(by_name.values()), folder)))
            return
        faults = Faults()
        end = time.monotonic() + orders["seconds"]
        for name, kind in orders["cases"]:
            if time.monotonic() > end:
                return
            _run(Trial(faults, by_name[name], folder), kind, orders["most"], orders["seed"], end)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(trial: Trial, kind: str, most: int, seed: int, end: float) -> None:
    """Let the first call of a kind fail, then the second, and so on; some of them if many."""
    say("try", f"{trial.case.name}: {kind}, no fault")
    count, attempts = trial.count(kind), 0
    gc.collect()
    gc.freeze()
    chance = random.Random(f"{seed} {trial.case.name} {kind}")
    if trial.case.device == "emulated":
        most = min(most, _MOST_EMULATED)
    numbers = range(1, count + 1)
    if count > most:
        numbers = sorted(chance.sample(numbers, most))  # type: ignore[assignment]
    for number in numbers:
        for error in errors_of(kind):
            if time.monotonic() > end:
                break
            lasts = kind in ("memory", "thread", "write", "fallocate") and chance.random() < 0.3
            trial.attempt(kind, number, error, lasts, chance.random() < 0.5)
            attempts += 1
    say("done", trial.case.name, kind, count, attempts, trial.failures)


if __name__ == "__main__":
    main()
