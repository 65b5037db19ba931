"""Every public name of Kleene with its signature, one a line, and every command with its options.

    python tests/house/public_names.py  # writes data/public_names.txt: see what git says changed

``test_public_names`` compares. Annotations are left out: they are mypy's, and change without a
change for users.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import kleene as kl
from kleene.calls import programs
from kleene.system.hints import Hint

FILE = Path(__file__).parents[1] / "data" / "public_names.txt"

#: Classes that users make by calling them; others come from functions, and may be made otherwise.
CALLED = ("kl.TurnGraph",)


def names() -> list[str]:
    """Return the lines of the file."""
    returned = (line for name, item in _returned() for line in _item(name, item))
    measuring = _module("kleene.calls.programs", programs)
    return sorted({*_module("kl", kl), *measuring, *returned, *_commands()})


def _module(prefix: str, module: ModuleType) -> Iterator[str]:
    for name in module.__all__:
        yield from _item(f"{prefix}.{name}", getattr(module, name))


def _returned() -> Iterator[tuple[str, type]]:
    """Yield the classes that have no name in the package, by where users meet them."""
    g = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 9, 3])
    r = kl.sssp(g, 0)
    yield "Result.plan", type(r.plan)
    yield "Result.stats", type(r.stats)
    yield "Result.verify()", type(r.verify())
    yield "Result.route()", type(r.route(2))
    yield "Graph.stats", type(g.stats)
    yield "k_shortest()", type(kl.k_shortest(g, 0, 2, 2))
    yield "k_shortest(pairs)", type(kl.k_shortest(g, pairs=[(0, 2)], k=2))
    yield "components()", type(kl.components(g))
    yield "distance_histogram()", type(kl.distance_histogram(g))
    yield "TurnGraph.sssp()", type(kl.TurnGraph(g, u_turns=1).sssp(0))


def _item(name: str, item: Any) -> Iterator[str]:
    if inspect.ismodule(item):
        yield f"{name}: module"
        yield from _module(name, item)
    elif inspect.isclass(item):
        bases = [base.__name__ for base in item.__mro__[1:-1] if issubclass(base, BaseException)]
        errors = f" of {', '.join(bases)}" if bases else ""
        yield f"{name}{_signature(item) if name in CALLED else ''}: class{errors}"
        yield from _attributes(name, item)
    elif callable(item):
        yield f"{name}{_signature(item)}"
    else:
        yield f"{name}: {type(item).__name__}"


def _attributes(name: str, item: type) -> Iterator[str]:
    """Yield what a class has from Kleene, however it is stored there."""
    own = [base for base in item.__mro__ if base.__module__.partition(".")[0] == "kleene"]
    found = {n for base in own for n in (*vars(base), *vars(base).get("__annotations__", ()))}
    for attribute in sorted(found):
        if attribute.startswith("_"):
            continue
        value = inspect.getattr_static(item, attribute, None)
        if isinstance(value, (classmethod, staticmethod)) or inspect.isfunction(value):
            yield f"{name}.{attribute}{_signature(getattr(item, attribute))}"
        elif not isinstance(value, (enum.Enum, Hint)):
            yield f"{name}.{attribute}"


def _signature(item: Any) -> str:
    """Return names, kinds and defaults of the parameters; without self."""
    try:
        signature = inspect.signature(item)
    except ValueError:  # an exception that takes what its base takes
        return "(...)"
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    return str(inspect.Signature(parameters))


# ---- the command line ---------------------------------------------------------------------------


def _commands() -> Iterator[str]:
    import typer

    from kleene.cli.main import app

    yield from _command("kleene", typer.main.get_command(app))


def _command(name: str, command: Any) -> Iterator[str]:
    for parameter in command.params:
        if parameter.name != "help":
            yield f"{name} {_parameter(parameter)}"
    group = hasattr(command, "list_commands")
    yield f"{name}: {'commands' if group else 'command'}"
    if group:
        context = command.make_context("kleene", [], resilient_parsing=True)
        for child in command.list_commands(context):
            yield from _command(f"{name} {child}", command.get_command(context, child))


def _parameter(parameter: Any) -> str:
    """Return an option or argument with its kind and a plain default."""
    written = "/".join([*parameter.opts, *parameter.secondary_opts])
    kind = "flag" if getattr(parameter, "is_flag", False) else parameter.metavar or "value"
    several = " ..." if parameter.multiple or parameter.nargs != 1 else ""
    default = getattr(parameter.default, "value", parameter.default)  # that of an enumeration
    said = f" = {default}" if type(default) in (str, int, float) and default != "" else ""
    return f"{written} {kind}{several}{said}{' required' if parameter.required else ''}"


if __name__ == "__main__":
    FILE.write_text("\n".join(names()) + "\n")
    print(f"{FILE}: {len(names())} names")
