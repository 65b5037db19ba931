"""Rows for products of a vector and a graph's matrix; a method is a form of the graph."""

from __future__ import annotations

from kleene.backends.semiring import SEMIRINGS
from kleene.registry.memory import device_arcs, no_workspace, whole_matrix
from kleene.registry.method import Method, Size

__all__ = ["ROWS"]

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


ROWS = tuple(_row(form, device) for device in ("cpu", "cuda") for form in _FORMS)
