"""The stubs of the native modules say what is compiled: names, parameters, defaults and types."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kleene
from kleene import _native

MODULES: list[ModuleType] = [_native]
try:
    from kleene import _emulator
except ImportError:  # it was not built
    pass
else:
    MODULES.append(_emulator)

Function = ast.FunctionDef
SCALARS = ("int", "bool", "float", "str")
_DTYPE = re.compile(r"dtype=(\w+)")


def stubs(module: ModuleType) -> ast.Module:
    name = module.__name__.rpartition(".")[2]
    return ast.parse((Path(kleene.__file__).parent / f"{name}.pyi").read_text(encoding="utf-8"))


def functions(body: list[ast.stmt], inside: str = "") -> dict[str, Function]:
    """Return the functions of a stub by name, methods with that of their class."""
    found: dict[str, Function] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found |= functions(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            found[inside + node.name] = node
    return found


def compiled(holder: Any, inside: str = "") -> dict[str, Any]:
    """Return what is compiled, in the same way; properties have names only."""
    found: dict[str, Any] = {}
    for name, value in vars(holder).items():
        kind = type(value).__name__
        if kind in ("nb_func", "nb_method"):
            found[inside + name] = value
        elif isinstance(value, property):
            found[inside + name] = None
        elif kind.startswith("nb_type"):
            found |= compiled(value, f"{name}.")
    return found


def parameters(function: Function) -> list[tuple[str, object]]:
    """Return names and defaults, ``...`` where there is none."""
    names = [*function.args.posonlyargs, *function.args.args]
    defaults = [ast.literal_eval(value) for value in function.args.defaults]
    padded = [*[...] * (len(names) - len(defaults)), *defaults]
    keywords = [
        (one.arg, ... if value is None else ast.literal_eval(value))
        for one, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    ]
    return [*((one.arg, value) for one, value in zip(names, padded, strict=True)), *keywords]


def as_compiled(value: Any) -> tuple[Function, list[tuple[str, object]]]:
    """Return the signature of a compiled function, with the defaults that it keeps apart.

    Overloads differ in the types of arrays only, so the first one stands for all.
    """
    text, _, defaults = value.__nb_signature__[0]
    # Types of arrays are no Python: ndarray[shape=(*), device='cpu'] has its dtype kept, if any.
    arrays = re.sub(
        r"ndarray\[([^\]]*)\]",
        lambda match: f"ndarray_{(_DTYPE.search(match[1]) or ['', 'any'])[1]}",
        text,
    )
    function = ast.parse(re.sub(r"\\(\d+)", r"\1", arrays) + ": ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    kept = [(name, at if at is ... else defaults[at]) for name, at in parameters(function)]
    return function, kept


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_stub_names_what_is_compiled(module: ModuleType) -> None:
    assert functions(stubs(module).body).keys() == compiled(module).keys()
    classes = {node.name for node in stubs(module).body if isinstance(node, ast.ClassDef)}
    assert classes == {name for name, value in vars(module).items() if isinstance(value, type)}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_stub_says_parameters_and_types(module: ModuleType) -> None:
    ours = functions(stubs(module).body)
    for name, value in compiled(module).items():
        if value is None:
            continue
        theirs, kept = as_compiled(value)
        if isinstance(theirs.returns, ast.Name) and theirs.returns.id in SCALARS:
            assert ast.unparse(ours[name].returns or ast.Pass()) == theirs.returns.id, name
        assert parameters(ours[name]) == kept, name
        for one, other in zip(ours[name].args.args, theirs.args.args, strict=True):
            if one.annotation is None or other.annotation is None:
                continue
            stub, native = ast.unparse(one.annotation), ast.unparse(other.annotation)
            array = re.search(r"ndarray_(\w+)", native)
            if array is not None and array[1] != "any" and len(value.__nb_signature__) == 1:
                assert array[1] in stub, f"{name}, {one.arg}: {stub}"
            if native in SCALARS:
                assert stub == native, f"{name}, {one.arg}: {stub}"
            if native.endswith("| None") and not native.startswith("object"):
                assert "None" in stub, f"{name}, {one.arg}: {stub}"
