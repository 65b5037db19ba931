"""Values that the shell completes: methods, devices, formats, experiments ...

Each function returns (value, help) pairs; typer keeps those that begin with what was typed. They
ask the tables of the library, and import no more than these need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from typer import Context

__all__ = [
    "devices",
    "experiments",
    "formats",
    "measures",
    "methods",
    "problems",
    "semirings",
    "suites",
    "words",
]

Values = list[tuple[str, str]]


def formats() -> Values:
    """Return the formats of graph files."""
    from kleene.io import FORMATS

    return [(format.name, " ".join(format.suffixes)) for format in FORMATS.values()]


def devices(ctx: Context) -> Values:
    """Return the devices that the command takes."""
    from kleene.registry import DEVICES

    refused = {"methods": "auto", "run": "reference"}.get(ctx.info_name or "")
    known = {"auto": "the fastest for this call", **DEVICES}
    return [(name, what) for name, what in known.items() if name != refused]


def methods(ctx: Context) -> Values:
    """Return the methods for the problem of this command, on its --device if that is given."""
    from kleene.registry import DEVICES, PATH_PROBLEMS
    from kleene.registry import methods as rows

    given = ctx.params.get("device")
    device = given if given in DEVICES else None
    problem = ctx.info_name
    if problem in ("path", "matrix"):
        problem = "bfs" if ctx.params.get("hops") else "sssp"
    problems = [problem] if problem in PATH_PROBLEMS else list(PATH_PROBLEMS)  # for explain
    if problem == "measure":
        problems = ["betweenness"]  # the others have no choice of methods
    found = {row.name: row.summary for problem in problems for row in rows(problem, device)}
    return [("auto", "the fastest for this call"), *found.items()]


def measures() -> Values:
    """Return the measures of a graph."""
    from kleene.cli.commands.measure_names import MEASURES

    return [(name, row.summary) for name, row in MEASURES.items()]


def problems() -> Values:
    """Return the problems with paths as their answer, and preparing for them."""
    from kleene.registry import PATH_PROBLEMS

    return [*PATH_PROBLEMS.items(), ("prepare", "eliminate vertices once, answer fast later")]


def semirings() -> Values:
    """Return the semirings of a closure."""
    return [
        ("boolean", "is there a path?"),
        ("min_plus", "the shortest path"),
        ("max_min", "the widest path"),
        ("max_times", "the most reliable path"),
    ]


def experiments() -> Values:
    """Return the experiments of the lab."""
    from kleene_lab.experiments import EXPERIMENTS

    return [(one.id, one.question) for one in EXPERIMENTS]


def suites() -> Values:
    """Return the suites of experiments."""
    from kleene_lab.experiments import EXPERIMENTS

    names: Iterable[str] = dict.fromkeys(name for one in EXPERIMENTS for name in one.suites)
    return [("all", "every experiment"), *((name, "") for name in names)]


def words(*names: str) -> Callable[[], Values]:
    """Return what the shell completes: some words."""
    return lambda: [(name, "") for name in names]
