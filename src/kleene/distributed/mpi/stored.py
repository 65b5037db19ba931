"""How the store of a search on ranks is recognized, without the modules that search."""

from __future__ import annotations

from kleene.distributed.store import Store
from kleene.errors import StoreError

__all__ = ["METHOD", "refuse_stored_by_ranks"]

#: The method in the ledger of a store that ranks write. One process has no method of this name.
METHOD = "ranks"


def refuse_stored_by_ranks(store: Store | None) -> None:
    """Raise StoreError for a store that ranks wrote: one process neither reads nor resumes it.

    It holds one source in one dimension, and another digest of the graph.
    """
    if store is None or store.spec.call.get("method") != METHOD:
        return
    raise StoreError(
        f"{store.path} is the store of {store.spec.call.get('problem')} on MPI ranks: resume or "
        "verify it under mpiexec, choose another name, or remove it and its ledger"
    )
