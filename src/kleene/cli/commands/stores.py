"""``kleene verify`` and ``kleene store``: saved results, whole or in blocks."""

from __future__ import annotations

import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kleene.cli.groups import CommandGroup
from kleene.cli.options import Input, Output, command
from kleene.cli.output import facts, headline, line
from kleene.cli.summaries import graph_fields, plan_fields, show_proof, show_result

if TYPE_CHECKING:
    from kleene.stores.store import Store

__all__ = ["store", "verify"]


@command()
def verify(
    graph: Input, result: str, *, samples: int | None = None, seed: int = 0, output: Output
) -> None:
    """Verify a saved result, or report where it is wrong.

    Graph and result may come in either order.

    Parameters
    ----------
    result : RESULT
        A result of this graph, saved by --out: .npz or a store.
    samples : N
        Check only N sources, chosen at random.
    """
    import kleene as kl

    if _is_result(graph.file) and not _is_result(result):
        graph.file, result = result, graph.file
    loaded = kl.Result.load(result, graph.read())
    proof = loaded.verify(samples, seed)
    document = {
        "command": "verify",
        "graph": graph_fields(loaded.graph),
        "plan": plan_fields(loaded.plan),
        "proof": asdict(proof),
    }
    output.show(document, lambda: show_result(loaded, {"result": result}, proof))


def _is_result(name: str) -> bool:
    """Return whether a file is a result by what it has: a head in its archive, or a ledger."""
    from kleene.stores import STORE_SUFFIXES
    from kleene.stores.store import ledger_of

    if Path(name).suffix in STORE_SUFFIXES:
        return ledger_of(name).exists()
    if not zipfile.is_zipfile(name):
        return False
    with zipfile.ZipFile(name) as archive:
        return "head.npy" in archive.namelist()


# ---- store ---------------------------------------------------------------------------------------


@command()
def _info(file: str, *, output: Output) -> None:
    """Describe a store: its call, its arrays, and how many blocks are done.

    Parameters
    ----------
    file : FILE
        A .zarr or .npy with its ledger beside it.
    """
    from kleene.stores.store import Store

    found = Store.find(file)
    document = {"command": "store info", **store_fields(found)}

    def page() -> None:
        spec, call = found.spec, found.spec.call
        shape = " x ".join(f"{side:,}" for side in spec.shape)
        headline(file, f": {call.get('problem')} by {call.get('method')}, {shape} {spec.dtype}")
        line()
        sizes = [f"{int(size):,}" for size in spec.graph.split()[:2] if size.isdecimal()]
        facts(
            {
                "done": describe_blocks(found),
                "state": "finished" if found.finished else "unfinished: run it with --resume",
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


@command()
def _verify_store(
    file: str,
    *,
    graph: str | None = None,
    samples: int | None = None,
    seed: int = 0,
    output: Output,
) -> None:
    """Verify a store: every block by its checksum, and with the graph a sample of the rows.

    Parameters
    ----------
    file : FILE
        A .zarr or .npy with its ledger beside it.
    graph : GRAPH
        The graph: prove a sample of the rows, too.
    samples : N
        Prove N rows; some seconds by default.
    """
    from kleene.errors import RequestError
    from kleene.stores.store import Store
    from kleene.system.progress import reporter

    if samples is not None and graph is None:
        raise RequestError("--samples proves rows, which needs the graph: add --graph FILE")
    found = Store.find(file)
    with reporter(not output.quiet, f"verifying {file}") as report:
        checked = found.verify(report)
    proof = None
    if graph is not None:
        import kleene as kl

        proof = kl.Result.load(file, kl.read(graph)).verify(samples, seed)
    document = {
        "command": "store verify",
        **store_fields(found),
        "checked": checked,
        "proof": None if proof is None else asdict(proof),
    }

    def page() -> None:
        headline(file, f": {describe_blocks(found)}")
        line()
        facts({"checksums": "all right"})
        show_proof(proof)

    output.show(document, page)


store = CommandGroup(
    name="store",
    help="Describe and verify results that --out wrote block by block.",
    functions=lambda: {"Commands": {"info": _info, "verify": _verify_store}},
)
