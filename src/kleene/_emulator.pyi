"""The emulator: CUDA kernels compiled for the CPU, and their launcher."""

checked: bool

class KernelError(RuntimeError): ...
class ThreadError(RuntimeError): ...

def kernels() -> list[tuple[int, str, str, str, list[str], int]]: ...
def register_array(first: int, bytes: int, item: int, name: str) -> None: ...
def forget_array(first: int) -> None: ...
def launch(
    kernel: int,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: bytes,
    shared: int,
    cooperative: bool,
    seed: int,
    yields: int,
    workers: int,
) -> None: ...
