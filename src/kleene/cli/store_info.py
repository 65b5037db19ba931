"""``kleene store info``: what a store holds, and how much of it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import facts, headline, line

if TYPE_CHECKING:
    from kleene.stores.store import Store

__all__ = ["StoreFile", "describe_blocks", "info", "store_fields"]

StoreFile = Annotated[
    str, Argument(metavar="FILE", help="A .zarr or .npy with its ledger beside it.")
]


@with_option_groups
def info(*, file: StoreFile, output: Output) -> None:
    """Describe a store: its call, its arrays, and how many blocks are done."""
    from kleene.stores.store import Store

    store = Store.find(file)
    document = {"command": "store info", **store_fields(store)}

    def page() -> None:
        spec, call = store.spec, store.spec.call
        shape = " x ".join(f"{side:,}" for side in spec.shape)
        headline(file, f": {call.get('problem')} by {call.get('method')}, {shape} {spec.dtype}")
        line()
        sizes = [f"{int(size):,}" for size in spec.graph.split()[:2] if size.isdecimal()]
        facts(
            {
                "done": describe_blocks(store),
                "state": "finished" if store.finished else "unfinished: run it with --resume",
                "predecessors": spec.predecessors or "none",
                "graph": "{} vertices, {} arcs".format(*sizes) if len(sizes) == 2 else spec.graph,
                "limit": call.get("limit"),
                "direction": "to the sources" if call.get("reverse") else "from the sources",
                "ledger": document["ledger"],
            }
        )

    output.show(document, page)


def store_fields(store: Store) -> dict[str, Any]:
    """Return the JSON fields of a store."""
    from kleene.stores.store import ledger_of

    spec = store.spec
    return {
        "file": str(store.path),
        "ledger": str(ledger_of(store.path)),
        **spec._asdict(),
        "blocks": len(spec.pieces),
        "done": len(store.done),
        "finished": store.finished,
    }


def describe_blocks(store: Store) -> str:
    """Return the number of blocks in words."""
    blocks, rows = len(store.spec.pieces), store.spec.block_rows
    return f"{len(store.done):,} of {blocks:,} blocks of {rows:,} rows"
