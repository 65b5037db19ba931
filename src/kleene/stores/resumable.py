"""Stores that a process left before their first block was done: the next call restarts them."""

from __future__ import annotations

from pathlib import Path

from kleene.errors import StoreError
from kleene.stores.checkpoints import Checkpoints
from kleene.stores.ledger import Ledger
from kleene.stores.matrix_files import RoundFiles
from kleene.stores.store import Store, ledger_of

__all__ = [
    "METHOD",
    "find_resumable",
    "is_empty",
    "refuse_stored_by_ranks",
]


def is_empty(store: Store | None) -> bool:
    """Return whether a store has no block yet, and no rounds or tiles to compute them from."""
    if store is None or store.done or not store.missing():
        return False
    path = store.path
    if path.exists() and not store.writer().unfinished:  # lines of its ledger were removed
        return False
    return not (RoundFiles.folder_of(path).exists() or Checkpoints.exist(path))


def find_resumable(path: str | Path, keep: bool = False) -> Store | None:
    """Return the store that a call resumes, None without one; an empty store is removed.

    A call that is explained lets it be, by ``keep``.
    One that another process is at work on is a StoreError. Without locks on files an empty store
    is left as it is, for it may be in use.
    """
    found = Store.look(path)
    if found is None or not is_empty(found):
        return found
    if keep:
        return None
    read = Ledger.read(ledger_of(path))
    if read is None:
        return None
    with Ledger.open(ledger_of(path), read[0]) as ledger:
        if ledger.entries or not ledger.locked:
            return Store.look(path)
        found.writer().discard()
        ledger.discard()
    return None


# ---- How the store of a search on ranks is recognized, without the modules that search ----------

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
