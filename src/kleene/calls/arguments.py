"""Arguments, checked once; everything behind trusts them."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import semiring as find_semiring
from kleene.engine.call import Call, Out, Pairs, Progress
from kleene.engine.fit import require_fit
from kleene.engine.planned import plan_value
from kleene.errors import Code, GraphError, MemoryBudgetError, RequestError, Text, in_words_of
from kleene.graph import Graph
from kleene.graph.checks import as_flag, require_unmasked
from kleene.graph.foreign_columns import as_numpy, held_value
from kleene.graph.labels import is_one_vertex
from kleene.graph.tables import column, column_names, is_table
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.planning.ask import ARC_BY_ARC, Ask, Output, What, Where
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan
from kleene.prepared.known import Known
from kleene.system.devices import INDEXED, device_name, split_name
from kleene.system.formatting import type_name
from kleene.system.machine import as_threads

if TYPE_CHECKING:
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = [
    "COUNT_ARCS",
    "USE_SSSP",
    "Call",
    "Devices",
    "Out",
    "Pairs",
    "Progress",
    "Vertices",
    "as_count",
    "as_devices",
    "as_pairs",
    "as_prepared",
    "as_vertices",
    "check_call",
    "check_keep",
    "make_ask",
    "plan_lengths",
    "require_graph",
    "require_not_negative",
    "sample_vertices",
    "wide_dtype",
]

Array = NDArray[Any]
Vertices = Iterable[Any]


def check_call(
    problem: str,
    graph: Any,
    *,
    semiring: str = "min_plus",
    source: Hashable | None = None,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    pairs: Any = None,
    reverse: bool = False,
    limit: float | None = None,
    predecessors: bool = True,
    deterministic: bool = False,
    method: str = "auto",
    device: str = "auto",
    devices: Devices = None,
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    out: Out = None,
    keep: str = "host",
    options: Mapping[str, int] | None = None,
    arc_by_arc: bool = False,
    on: Any = None,
    hops: bool = False,
) -> Call:
    """Check the arguments of a path problem; a prepared graph stands for its graph."""
    prepared = None
    if not isinstance(graph, Graph):
        prepared = as_prepared(graph)
        graph = prepared.graph
    listed = None
    if pairs is not None:
        others = {"source": source, "sources": sources, "targets": targets, "out": out}
        _refuse_with_pairs(reverse, others)
        listed = as_pairs(graph, pairs)
        rows = np.empty(0, dtype=graph.id_dtype)
    else:
        rows = _as_sources(problem, graph, source, sources)
    columns = None if targets is None else as_vertices(graph, targets, "targets")
    ask = make_ask(
        problem,
        semiring=semiring,
        sources=None if source is None and sources is None and pairs is None else len(rows),
        predecessors=predecessors,
        deterministic=deterministic,
        limited=limit is not None,
        method=method,
        device=device,
        devices=devices,
        dtype=dtype,
        threads=threads,
        out=out is not None,
        keep=keep,
        options=options,
        arc_by_arc=arc_by_arc,
    )
    if not hops and problem != "bfs" and ask.what.semiring != "boolean":
        warn_of_numbers_left(graph)
    if pairs is not None:
        ask = ask._replace(keywords=("predecessors", "dtype"))
    single = source is not None
    call = Call(
        ask,
        graph,
        rows,
        columns,
        limit,
        progress,
        out,
        single,
        as_flag(reverse, "reverse"),
        listed,
        prepared,
        on,
    )
    if keep == "device":
        require_fit(call)
    return call


def make_ask(
    problem: str,
    *,
    semiring: str = "min_plus",
    sources: int | None = None,
    predecessors: bool = True,
    deterministic: bool = False,
    limited: bool = False,
    method: str = "auto",
    device: str = "auto",
    devices: Devices = None,
    dtype: Any = None,
    threads: int | None = None,
    out: bool = False,
    keep: str = "host",
    options: Mapping[str, int] | None = None,
    arc_by_arc: bool = False,
) -> Ask:
    """Return what the user asks for, without the data."""
    kind, names = as_devices(device, devices)
    if keep != "host":
        check_keep(keep, kind)
    return Ask(
        What(
            problem,
            find_semiring(semiring).name,
            sources,
            bool(predecessors),
            None if dtype is None else _dtype_name(dtype),
            limited,
            bool(deterministic),
        ),
        Where(_as_name(method, "method"), kind, names, as_threads(threads), _as_options(options)),
        Output(keep, out),
        (ARC_BY_ARC,) if arc_by_arc else (),
    )


def require_graph(graph: Any) -> None:
    """Raise unless this is a Graph; the error says how to make one."""
    if isinstance(graph, Graph):
        return
    if isinstance(getattr(graph, "expanded", None), Graph):  # a TurnGraph
        raise GraphError("a TurnGraph has searches of its own: turn_graph.sssp(...) and .apsp(...)")
    from kleene.engine.prepared import PreparedForm  # few programs prepare graphs

    if isinstance(graph, PreparedForm):
        raise GraphError("this call takes a graph that is not prepared: pass prepared.graph")
    raise GraphError(
        f"expected a kleene.Graph, not {type_name(graph)}",
        advice=["make one with kleene.Graph.from_any(...) and use it for all calls"],
    )


def as_prepared(graph: Any) -> PreparedGraph:
    """Return a prepared graph; refuse all else that is not a Graph."""
    from kleene.engine.prepared import PreparedForm  # few programs prepare graphs

    if not isinstance(graph, PreparedForm):
        require_graph(graph)
        raise AssertionError
    prepared: Any = graph  # users have no other form
    return prepared  # type: ignore[no-any-return]


def as_vertices(graph: Graph, vertices: Vertices, name: str) -> Array:
    """Return the positions of a sequence of vertices."""
    if isinstance(vertices, (str, bytes)) or not np.iterable(vertices):
        raise RequestError(Code(name), f" must be a sequence of vertices, not {vertices!r}")
    vertices = as_numpy(vertices, name)
    if isinstance(vertices, np.ndarray) and vertices.ndim != 1:
        raise RequestError(Code(name), f" must be one-dimensional, not of shape {vertices.shape}")
    require_unmasked(vertices, name, "leave them out", RequestError)
    return graph._labels.positions(vertices)


def _as_sources(
    problem: str, graph: Graph, source: Hashable | None, sources: Vertices | None
) -> Array:
    if source is not None and sources is not None:
        raise RequestError("give either ", Code("source"), " or ", Code("sources"), ", not both")
    if sources is not None:
        return as_vertices(graph, sources, "sources")
    if source is not None:
        if isinstance(source, Iterable) and not is_one_vertex(source):
            raise RequestError(f"pass several sources by keyword: {problem}(g, sources=[...])")
        return np.array([graph.index(source)], dtype=graph.id_dtype)
    if problem in ("bfs", "sssp"):
        raise RequestError(f"{problem} needs a source, or several: ", Code("sources=[...]"))
    return np.arange(graph.n, dtype=graph.id_dtype)


def _refuse_with_pairs(reverse: bool, others: dict[str, Any]) -> None:
    """Refuse arguments that repeat what pairs say: where paths begin and end."""
    given = [name for name, value in others.items() if value is not None]
    given += ["reverse"] if reverse else []
    if given:
        raise RequestError(
            Code("pairs"),
            " already name both ends of every path: leave out ",
            Text.joined(" and ", map(Code, given)),
        )


def as_pairs(graph: Graph, pairs: Any) -> Pairs:
    """Return the positions of the origins and of the destinations of a list of pairs."""
    if is_table(pairs) and not isinstance(pairs, Mapping):
        names = column_names(pairs)
        if len(names) != 2:
            raise RequestError(
                Code("pairs"), f" must have two columns, but this table has {len(names)}"
            )
        ends: list[Any] = [column(pairs, name) for name in names]
    elif isinstance(pairs, np.ndarray):
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise RequestError(Code("pairs"), f" must have the shape (k, 2), not {pairs.shape}")
        ends = [pairs[:, 0], pairs[:, 1]]
    else:
        ends = _two_lists(pairs)
    origins, destinations = (as_vertices(graph, end, "pairs") for end in ends)
    return origins, destinations


def _two_lists(pairs: Any) -> list[list[Any]]:
    """Return the first and the second vertices of a sequence of pairs."""
    if isinstance(pairs, (str, bytes, Mapping)) or not np.iterable(pairs):
        raise RequestError(
            Code("pairs"), f" must be a sequence of (origin, destination), not {pairs!r}"
        )
    ends: list[list[Any]] = [[], []]
    for i, pair in enumerate(pairs):
        both = [] if isinstance(pair, (str, bytes)) or not np.iterable(pair) else list(pair)
        if len(both) != 2:
            raise RequestError(
                Code("pairs"),
                f" must be (origin, destination), and entry {i} is {held_value(pair)!r}",
            )
        for end, vertex in zip(ends, both, strict=True):
            end.append(vertex)
    return ends


def _as_name(name: Any, what: str) -> str:
    if not isinstance(name, str):
        raise RequestError(Code(what), f" must be a name, not {name!r}")
    return name


def _as_options(options: Any) -> tuple[tuple[str, int], ...]:
    if options is None:
        return ()
    if not isinstance(options, Mapping):
        raise RequestError(
            Code("options"), f" must be a mapping of names to numbers, not {options!r}"
        )
    for name, value in options.items():
        _as_name(name, "an option")
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
            raise RequestError(f"option {name!r} must be a positive integer, not {value!r}")
    return tuple(sorted((name, int(value)) for name, value in options.items()))


def _dtype_name(dtype: Any) -> str:
    try:
        return str(np.dtype(dtype))
    except (TypeError, ValueError):
        return str(dtype)  # the plan refuses it, and says what it may be


# ---- Numbers among the arguments: counts, and how many vertices to draw; checked once -----------


def as_count(value: Any, name: str) -> int:
    """Return a positive integer."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if not 1 <= count < 2**62:
        raise RequestError(Code(name), f" must be a positive integer, not {value!r}")
    return count


def sample_vertices(
    graph: Graph, samples: Any, sources: Any, chance: np.random.Generator
) -> NDArray[Any]:
    """Return the positions of random vertices, in order: so many, or all if there are fewer.

    They are instead of ``sources``, which must not be given.
    """
    if sources is not None:
        raise RequestError("give either ", Code("sources="), " or ", Code("samples="), ", not both")
    count = min(as_count(samples, "samples"), graph.n)
    return np.sort(chance.choice(graph.n, count, replace=False)).astype(graph.id_dtype)


# ---- Checks of ``device`` and ``devices``: where a call runs ------------------------------------

Devices = Iterable[int | str] | None

_PLAIN = ("auto", "cpu", "cuda")


def as_devices(device: Any, devices: Any) -> tuple[str, tuple[str, ...]]:
    """Return the kind of device, and the names of those that were chosen."""
    if not isinstance(device, str):
        raise RequestError(Code("device"), f" must be a name, not {device!r}")
    if devices is None and device in _PLAIN:  # the short way, since small calls take microseconds
        return device, ()
    kind, index = split_name(device)
    named = () if index is None else (device_name(kind, index),)
    if devices is None:
        return kind, named
    if isinstance(devices, (str, bytes)) or not np.iterable(devices):
        raise RequestError(
            Code("devices"),
            " must be a list of numbers or names, as in [0, 2] or ['cuda:0', 'cuda:2'], not "
            f"{devices!r}",
        )
    chosen = [_as_device(each, kind) for each in devices]
    names = tuple(device_name(*each) for each in chosen)
    if not names:
        raise RequestError(Code("devices"), " is empty: name at least one, or leave it out")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestError(Code("devices"), f" names {twice!r} twice")
    found = {of for of, _ in chosen} | ({kind} - {"auto"})
    if len(found) > 1 or (named and named != names):
        raise RequestError(
            Code("devices"),
            f" {', '.join(map(repr, names))} and ",
            Code(f"device={device!r}"),
            " cannot be combined: all devices of a call must be of one kind",
        )
    return found.pop(), names


def _as_device(given: Any, kind: str) -> tuple[str, int]:
    """Return the kind and the index of one of several devices."""
    if isinstance(given, str):
        of, index = split_name(given)
        if of in INDEXED:
            return of, index or 0
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 0:
        return (kind if kind in INDEXED else "cuda"), int(given)
    raise RequestError(
        Code("devices"),
        f" has {given!r}; expected non-negative numbers, or names such as 'cuda:1'",
    )


def check_keep(keep: Any, kind: str) -> None:
    """Refuse what is not "device", and devices that leave nothing there."""
    if keep != "device":
        raise RequestError(Code("keep"), f" must be 'host' or 'device', not {keep!r}")
    if kind not in ("auto", *INDEXED):
        raise RequestError(
            Code("keep='device'"),
            " leaves the answer on a GPU, but the call runs on ",
            Code(f"device={kind!r}"),
            ": use ",
            Code("device='cuda'"),
            ", or leave out keep",
        )


# ---- Plans of searches along lengths, which must not be negative, or along hops -----------------

#: What to do about negative weights: of any call, and of one that returns distances.
COUNT_ARCS = Text("count arcs by ", Code("hops=True"))
USE_SSSP = Text("use ", Code("kleene.sssp"), ", which allows them")


def plan_lengths(
    graph: Graph, ask: Ask, hops: bool, advice: str, prepared: Known | None = None
) -> Plan:
    """Plan a search along lengths, which must not be negative, or hops.

    ``advice`` says what to do where memory does not suffice, ``prepared`` what the graph was
    prepared for by the user.
    """
    if not hops:
        warn_of_numbers_left(graph)
    facts = graph_facts(graph, hops)
    searched = ask.what.problem in ("within", "nearest")
    require_not_negative(facts, ask.what.problem, *([COUNT_ARCS, USE_SSSP] if searched else []))
    if prepared is not None:
        facts = replace(facts, prepared=prepared)
    try:
        return plan_value(facts, ask, graph if prepared is None else None, hops)
    except MemoryBudgetError as error:
        raise in_words_of(error, advice=[advice], lead="; ") from None


def wide_dtype(graph: Graph, hops: bool) -> np.dtype[Any]:
    """Return the type in which equal lengths compare equal: int64 for integers, else float64."""
    own = None if hops else graph.weight_dtype
    return np.dtype(np.float64 if own is not None and own.kind == "f" else np.int64)


def require_not_negative(facts: Facts, call: str, *advice: str) -> None:
    """Refuse negative weights; ``advice`` says what the user can do instead, by default hops."""
    if facts.min_weight < 0:
        raise RequestError(
            f"{call} needs non-negative weights, and the smallest is {facts.min_weight:g}",
            advice=advice or [COUNT_ARCS],
        )
