"""``kleene info``, ``convert`` and ``generate``: look at graphs, write them, make them.

``generate`` has a command for each function of ``kleene.generate``. Generators are imported when
they are needed, not for ``kleene --help``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from kleene.cli.groups import CommandGroup
from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import facts, headline, line, number
from kleene.cli.summaries import (
    describe_graph,
    describe_prepared,
    graph_fields,
    prepared_fields,
)

if TYPE_CHECKING:
    from kleene import Graph
    from kleene.results.components import Components

__all__ = ["convert", "generate", "info", "write_and_show"]


# ---- info ----------------------------------------------------------------------------------------


@command()
def info(graph: Input, *, threads: int | None = None, output: Output) -> None:
    """Describe a graph: size, weights, degrees, components, memory."""
    from kleene.calls.components import components
    from kleene.system.formatting import counted, format_bytes

    if graph.is_prepared:
        prepared = graph.load(threads)
        read, format, eliminated = prepared.graph, "kp", prepared_fields(prepared)
    else:
        (read, format), eliminated = graph.read_with_format(threads), None
    stats = read.stats
    degrees = {
        "min": int(stats.degrees.min(initial=stats.max_degree)),
        "mean": stats.mean_degree,
        "max": stats.max_degree,
    }
    weak, strong = components(read, threads=threads), components(read, "strong", threads=threads)
    memory = _memory(read)
    document = {
        "command": "info",
        "file": graph.file,
        "format": format,
        **graph_fields(read),
        "positions": read.positions is not None,
        "crs": read.crs,
        "joined_ends": None if read.joined_ends is None else len(read.joined_ends),
        "min_weight": None if read.weights is None else stats.min_weight,
        "max_weight": None if read.weights is None else stats.max_weight,
        "degrees": degrees,
        "density": stats.density,
        "symmetric": stats.symmetric,
        "isolated": int(((stats.degrees == 0) & (stats.in_degrees == 0)).sum()),
        "weak_components": {"count": weak.count, "largest": weak.sizes[:1].sum()},
        "strong_components": {"count": strong.count, "largest": strong.sizes[:1].sum()},
        "diameter_estimate": stats.diameter_estimate,
        "memory": memory,
        "prepared": eliminated,
    }

    def page() -> None:
        headline(
            read.name or ("standard input" if graph.file == "-" else graph.file),
            f": {describe_graph(read)}",
        )
        line()
        low, high, isolated = (document[n] for n in ("min_weight", "max_weight", "isolated"))
        facts(
            {
                "format": document["format"],
                "kind": "directed" if read.directed else "undirected, both directions stored",
                "weights": None if low is None else f"{number(low)} to {number(high)}",
                "labels": None if read.labels is None else _describe_labels(read),
                "positions": None if read.positions is None else _describe_positions(read),
                "joined ends": None if read.joined_ends is None else _describe_joined(read),
                "degree": f"{degrees['min']:,} to {degrees['max']:,}, mean {degrees['mean']:.3g}",
                "density": f"{stats.density:.3g}",
                "symmetric": "yes" if stats.symmetric else "no",
                "isolated": counted(isolated, "vertex", "vertices") if isolated else None,
                "weak components": _describe_components(weak),
                "strong components": _describe_components(strong),
                "diameter": f"at least {stats.diameter_estimate:,} hops (two searches)",
                "memory": ", ".join(f"{k} {format_bytes(v)}" for k, v in memory.items()),
                **(describe_prepared(eliminated) if eliminated else {}),
            }
        )

    output.show(document, page)


def _describe_labels(graph: Graph) -> str:
    assert graph.labels is not None
    first = [str(label) for label in graph.labels[:3].tolist()]
    return ", ".join(first) + (", ..." if graph.n > len(first) else "")


def _describe_positions(graph: Graph) -> str:
    assert graph.positions is not None
    spans = zip("xy", graph.positions.min(axis=0), graph.positions.max(axis=0), strict=True)
    where = ", ".join(f"{axis} {low:.6g} to {high:.6g}" for axis, low, high in spans)
    return where if graph.crs is None else f"{where}, {graph.crs[:40]}"


def _describe_joined(graph: Graph) -> str:
    joined = graph.joined_ends
    assert joined is not None
    return f"{len(joined):,}" + (
        f", up to {joined.distances.max():.3g} apart" if len(joined) else ""
    )


def _describe_components(found: Components) -> str:
    largest = f", the largest of {found.sizes[0]:,} vertices" if found.count > 1 else ""
    return f"{found.count:,}{largest}"


def _memory(graph: Graph) -> dict[str, Any]:
    """Return the size in bytes of each storage form."""
    vertex = graph.neighbors.itemsize
    weight = 0 if graph.weights is None else graph.weights.itemsize
    rows = 8 * (graph.n + 1) + (vertex + weight) * graph.m
    return {
        "csr": rows,
        "csc": rows,
        "coo": (2 * vertex + weight) * graph.m,
        "ell": (vertex + weight) * graph.n * graph.stats.max_degree,
        "dense": (weight or 4) * graph.n**2,
    }


# ---- convert -------------------------------------------------------------------------------------


@command()
def convert(
    graph: Input,
    destination: str | None = None,
    *,
    out: str | None = None,
    to: str | None = None,
    threads: int | None = None,
    output: Output,
) -> None:
    """Write a graph in another format.

    Parameters
    ----------
    out : FILE
        The file to write; - for standard output, which needs --to.
    """
    file = _one_file(destination, out)
    write_and_show(graph.read(threads), "convert", file, to, threads, output)


def _one_file(destination: str | None, out: str | None) -> str:
    """Return the file to write, which is an argument or an option."""
    from kleene.errors import RequestError

    files = [file for file in (destination, out) if file is not None]
    if len(files) != 1:
        raise RequestError("name one file to write, by --out FILE")
    return files[0]


def write_and_show(
    graph: Graph, command: str, out: str, to: str | None, threads: int | None, output: Output
) -> None:
    """Write a graph; then describe it, unless it was written to standard output."""
    import kleene as kl
    from kleene.errors import RequestError
    from kleene.system.progress import reporter

    if out == "-" and to is None:
        raise RequestError(f"standard output needs --to with a format: {', '.join(kl.io.FORMATS)}")
    if out == "-" and sys.stdout.isatty() and to in kl.io.FORMATS and not kl.io.FORMATS[to].text:
        raise RequestError(f"{to} is a binary format; redirect the output to a file or pipe")
    with reporter(not output.quiet, f"writing {out}") as report:
        kl.write(graph, out, to, threads=threads, progress=report)
    if out == "-":
        return
    document: dict[str, Any] = {"command": command, "out": out, "graph": graph_fields(graph)}
    output.show(document, lambda: headline(out, f": {graph.name}, {describe_graph(graph)}"))


# ---- generate ------------------------------------------------------------------------------------


class _Generators(CommandGroup):
    """A command for each generator."""

    def sections(self) -> dict[str, dict[str, Any]]:
        return {"Commands": _generators()}


generate = _Generators(name="generate", help="Generate a graph and write it to a file.")


_OF_GENERATORS = """Parameters
----------
out : FILE
    The file to write; - for standard output, which needs --to.
seed : N
    The same seed makes the same graph.
"""


@cache
def _generators() -> dict[str, Any]:
    """Return a function for each generator, by its name here."""
    from kleene import generate

    names = (name for name in generate.__all__ if inspect.isfunction(getattr(generate, name)))
    return {name.replace("_", "-"): _writing(name) for name in sorted(names)}


def _writing(name: str) -> Callable[..., None]:
    """Return the function that calls a generator with the given options and writes the graph."""
    from kleene import generate

    @command(f"generate.{name}")
    def generator(
        destination: str | None = None,
        *,
        call: Call,
        out: str | None = None,
        to: str | None = None,
        output: Output,
    ) -> None:
        from kleene.system.progress import reporter

        file = _one_file(destination, out)
        with reporter(not output.quiet, f"generating {name}") as report:
            graph = getattr(generate, name)(progress=report, **call.given)
        write_and_show(graph, "generate", file, to, call.threads, output)

    summary = (inspect.getdoc(getattr(generate, name)) or "").split("\n\n")[0]
    generator.__doc__ = f"{summary}\n\n{_OF_GENERATORS}"
    return generator
