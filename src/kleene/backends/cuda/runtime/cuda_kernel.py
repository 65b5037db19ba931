"""Kernels on a GPU: launches, occupancy, compilation."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cuda.core import ObjectCode, Program, ProgramOptions

from kleene.backends.cuda.runtime import cuda_driver, loader
from kleene.backends.cuda.runtime.interface import Argument, Shape
from kleene.backends.cuda.runtime.structs import Parameters, arrays_of
from kleene.errors import KernelError
from kleene.system import devices
from kleene.system.cached_property import cached_property

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.cuda_device import CudaDevice
    from kleene.backends.cuda.runtime.cuda_memory import CudaStream

__all__ = ["CudaKernel", "compile_image", "kernels_in", "load_kernels"]

_DEFAULT_SHARED = 48 * 1024  # bytes per block without opt-in


class CudaKernel:
    """One kernel of one variant."""

    def __init__(self, device: CudaDevice, kernel: Any, name: str, title: str) -> None:
        self.name = name
        self._device, self._kernel, self._title = device, kernel, title
        self._function = cuda_driver.function(kernel.handle)
        self._lock = threading.Lock()  # guards the buffer of arguments
        self._allowed = _DEFAULT_SHARED
        self._resident: dict[tuple[int, int], int] = {}

    @cached_property
    def _parameters(self) -> Parameters:
        return Parameters(self._title, self._kernel.arguments_info)

    def launch(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[Argument],
        shared: int = 0,
        stream: CudaStream | None = None,
        cooperative: bool = False,
    ) -> None:
        """Launch in a stream; scalars are converted to the sizes of the parameters."""
        device = self._device
        device.use_once()
        if shared > self._allowed:
            self._allow(shared)
        if device.kept is not None:
            device.kept.extend(arrays_of(args))
        gx, gy, gz = (*grid, 1, 1)[:3]
        bx, by, bz = (*block, 1, 1)[:3]
        parameters, on = self._parameters, (device.main if stream is None else stream).handle
        try:
            with self._lock:
                parameters.pack(args)
                cuda_driver.launch(
                    self._function, gx, gy, gz, bx, by, bz, shared, on, parameters.address,
                    cooperative,
                )  # fmt: skip
        except cuda_driver.DriverError as error:
            launched = f"launched as {grid} x {block} with {shared} bytes of shared memory"
            raise KernelError(f"{self._title}, {launched}: {error}") from error

    def resident_blocks(self, threads: int, shared: int = 0) -> int:
        """Return how many blocks of this size are resident on the whole device at once."""
        known = self._resident.get((threads, shared))
        if known is None:
            self._device.use_once()
            if shared > self._allowed:
                self._allow(shared)
            with self._device.errors:
                each = self._kernel.occupancy.max_active_blocks_per_multiprocessor(threads, shared)
            known = self._resident[threads, shared] = each * self._device.multiprocessors
        return known

    @property
    def registers(self) -> int:
        """Registers per thread."""
        return int(self._kernel.attributes[self._device.ordinal].num_regs)

    @property
    def spilled(self) -> int:
        """Bytes of local memory per thread."""
        return int(self._kernel.attributes[self._device.ordinal].local_size_bytes)

    def _allow(self, shared: int) -> None:
        """Opt in to more dynamic shared memory than the default."""
        with self._device.errors:
            cuda_driver.raise_shared_memory(self._kernel.handle, shared, self._device.ordinal)
        self._allowed = shared


# ---- compilation --------------------------------------------------------------------------------


def load_kernels(
    device: CudaDevice, file: str, variant: str, defines: Mapping[str, str | int]
) -> dict[str, CudaKernel]:
    """Return the kernels of one variant of a file by name, compiled now or taken from the cache."""
    arch = device.capability[0] * 10 + device.capability[1]
    for again in (False, True):  # a file that is broken is made again
        image = loader.compiled(file, defines, arch, compiler_version(), compile_image, again)
        try:
            return kernels_in(device, image, f"{file}.cu, {variant}")
        except Exception as error:  # of a class that cuda.core does not export
            failure = error
    raise KernelError(f"{file}.cu does not load on {device.name}: {failure}") from failure


def kernels_in(device: CudaDevice, image: bytes, title: str) -> dict[str, CudaKernel]:
    """Return the kernels of machine code, which is an ELF file, or of PTX."""
    make = ObjectCode.from_cubin if image.startswith(b"\x7fELF") else ObjectCode.from_ptx
    code = make(image)
    return {
        name: CudaKernel(device, code.get_kernel(name), name, f"kernel {name} ({title})")
        for name in cuda_driver.kernel_names(code.handle)
    }


@cache
def compiler_version() -> str:
    """Return NVRTC's version; loading it takes 50 ms, so its package is asked first."""
    try:
        return devices.compiler_package() or f"nvrtc {cuda_driver.compiler_version()}"
    except RuntimeError:  # kernels in the cache need no compiler
        return "no compiler"


def compile_image(source: str, name: str, defines: Mapping[str, str | int], arch: int) -> bytes:
    """Return a cubin, or PTX for the nearest older GPU if NVRTC does not know this one."""
    older = [a for a in (121, 120, 103, 100, 90, 89, 86, 80, 75, 70) if a < arch]
    for target in (f"sm_{arch}", *(f"compute_{a}" for a in older)):
        options = ProgramOptions(name=name, arch=target, **loader.program_options(defines))
        try:
            program = Program(source, "c++", options)
        except Exception as error:  # no library of NVRTC, or one that does not load
            raise KernelError(
                f"NVRTC, which compiles kernels, cannot be used: {error}; "
                f'pip install "kleene[{devices.extra()}]" installs it'
            ) from error
        try:
            image = program.compile("cubin" if target.startswith("sm_") else "ptx").code
            return image if isinstance(image, bytes) else image.encode()
        except Exception as error:  # of a class that cuda.core does not export
            if "gpu-architecture" not in str(error):
                raise KernelError(f"{name} does not compile for {target}:\n{error}") from error
        finally:
            program.close()
    raise KernelError(
        f"{compiler_version()} no longer compiles for GPUs as old as sm_{arch}; "
        'pip install "kleene[cuda12]" installs a version that does'
    )
