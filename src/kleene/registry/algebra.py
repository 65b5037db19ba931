"""Rows for products of two matrices over a semiring.

In a :class:`Size`, ``sources`` x ``n`` is the shape of the answer, and ``m`` the number of entries
of both factors.
"""

from __future__ import annotations

from kleene.backends.semiring import SEMIRINGS
from kleene.registry.memory import device_arcs, no_workspace, whole_matrix
from kleene.registry.method import Method, Size

__all__ = [
    "PRODUCT",
    "PRODUCT_SEMIRINGS",
    "SPMV",
]

PRODUCT_SEMIRINGS = ("min_plus", "max_plus", "max_min", "max_times", "boolean")


def _positions(size: Size) -> int:
    return 4 * size.sources * size.n if size.predecessors else 0


def _engine_item(size: Size) -> int:
    """Bytes of an entry in the form of an engine: booleans as integers where they have paths."""
    return 4 if size.item == 1 and size.predecessors else size.item


def _factors(size: Size) -> int:
    """Both factors and the answer in the form of the engine, and a panel of 96 rows."""
    item = _engine_item(size)
    return item * (size.m + size.sources * size.n) + 96 * (item + 4) * (size.n + 64)


def _on_gpu(size: Size) -> int:
    """The factors and the answer in whole tiles; the left factor twice while it is transposed."""
    item = max(4, size.item)
    padded = 128 * (size.sources + size.n) + 2**21
    panel = 4 * 512 * size.n if size.predecessors else 0
    return item * (2 * size.m + size.sources * size.n + padded) + _positions(size) + panel


def _one_row(size: Size) -> int:
    """What a row of the left factor gives with each row of the right one, and a mask."""
    return (size.item + 2) * size.m


PRODUCT = (
    Method(
        "product",
        "tiled",
        "cpu",
        "packed blocks of both factors, tiles in vector registers, on all cores",
        "Goto and van de Geijn 2008",
        "kleene.backends.cpu.product:tiled",
        _factors,
        semirings=PRODUCT_SEMIRINGS,
        makes=("value",),
        cuts="never",
    ),
    Method(
        "product",
        "tiled",
        "cuda",
        "panels of both factors in shared memory, tiles in registers",
        "Volkov and Demmel 2008",
        "kleene.backends.cuda.product:tiled",
        _factors,
        semirings=PRODUCT_SEMIRINGS,
        device_memory=_on_gpu,
        in_place="kleene.backends.cuda.product:multiply_on_device",
        makes=("value",),
        cuts="never",
    ),
    Method(
        "product",
        "broadcast",
        "reference",
        "by the definition, a row of the answer at a time",
        "Aho, Hopcroft and Ullman 1974",
        "kleene.backends.reference.product:broadcast",
        _one_row,
        semirings=PRODUCT_SEMIRINGS,
        makes=("value",),
        cuts="never",
    ),
)


# ---- Rows for products of a vector and a graph's matrix; a method is a form of the graph --------

_FORMS = {
    "csr": "rows of outgoing arcs; each thread adds to the heads of its rows",
    "csc": "rows of incoming arcs; each vertex adds up its own",
    "coo": "arcs one by one, by tail and head",
    "ell": "rows padded to the longest, so that vector lanes walk in step",
    "dense": "the whole matrix",
}


def _row(form: str, device: str) -> Method:
    matrix = whole_matrix if form == "dense" else None
    return Method(
        "spmv",
        form,
        device,
        _FORMS[form],
        "Bell and Garland 2009",
        f"kleene.backends.{device}.spmv:spmv",
        (matrix or no_workspace) if device == "cpu" else no_workspace,
        semirings=("plus_times", *SEMIRINGS),
        device_memory=(matrix or device_arcs) if device == "cuda" else None,
        answer=_vector,
        makes=("value",),
        cuts="never",
    )


def _vector(size: Size) -> int:
    return size.item * size.n


SPMV = tuple(_row(form, device) for device in ("cpu", "cuda") for form in _FORMS)
