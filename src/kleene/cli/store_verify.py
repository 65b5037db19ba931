"""``kleene store verify``: compare the blocks of a store with its ledger, and prove some rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from typer import Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import facts, headline, line
from kleene.cli.store_info import StoreFile, describe_blocks, store_fields

__all__ = ["verify"]


@with_option_groups
def verify(
    *,
    file: StoreFile,
    graph: Annotated[
        str | None,
        Option("--graph", metavar="GRAPH", help="The graph: prove a sample of the rows, too."),
    ] = None,
    sample: Annotated[
        int | None,
        Option("--sample", metavar="N", min=1, help="Prove N rows; some seconds by default."),
    ] = None,
    seed: Annotated[int, Option("--seed", metavar="N", help="The random seed of --sample.")] = 0,
    output: Output,
) -> None:
    """Verify a store: every block by its checksum, and with the graph a sample of the rows."""
    from kleene.errors import RequestError
    from kleene.stores.store import Store
    from kleene.system.progress import reporter

    if sample is not None and graph is None:
        raise RequestError("--sample proves rows, which needs the graph: add --graph FILE")
    store = Store.find(file)
    with reporter(not output.quiet, f"verifying {file}") as report:
        checked = store.verify(report)
    proof = None
    if graph is not None:
        import kleene as kl

        proof = kl.Result.load(file, kl.read(graph)).verify(sample, seed)
    document = {
        "command": "store verify",
        **store_fields(store),
        "checked": checked,
        "proof": None if proof is None else asdict(proof),
    }

    def page() -> None:
        headline(file, f": {describe_blocks(store)}")
        line()
        facts({"checksums": "all right"})
        if proof is not None:
            line()
            line(f"  {proof}", style="green")

    output.show(document, page)
