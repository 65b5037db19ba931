"""Promises about the public surface: examples everywhere, a light import."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import kleene as kl


def public_callables() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name in kl.__all__:
        item = getattr(kl, name)
        if inspect.ismodule(item):
            found += [(f"{name}.{n}", getattr(item, n)) for n in item.__all__]
        else:
            found.append((name, item))
        if inspect.isclass(item) and not issubclass(item, Exception):
            names = [n for n in dir(item) if not n.startswith("_")]
            members = {n: inspect.getattr_static(item, n) for n in names}
            functions = {n: m for n, m in members.items() if callable(m) or _is_method(m)}
            found += [(f"{name}.{n}", getattr(item, n)) for n in functions]
    return [(name, item) for name, item in found if callable(item)]


def _is_method(member: object) -> bool:
    return isinstance(member, (classmethod, staticmethod))


def test_every_public_function_has_an_example_that_runs() -> None:
    """The examples themselves are run as doctests."""
    items = public_callables()
    assert len(items) > 20
    for name, item in items:
        if inspect.isclass(item) and issubclass(item, Exception):
            assert inspect.getdoc(item), name
        else:
            assert ">>>" in (inspect.getdoc(item) or ""), f"{name} has no example"


def test_import_is_light() -> None:
    """Nothing heavy is imported before it is needed."""
    heavy = (
        "scipy",
        "pandas",
        "pyarrow",
        "networkx",
        "typer",
        "rich",
        "matplotlib",
        "cuda",
        "sklearn",
        "dask",
        "distributed",
    )
    code = f"import sys, kleene; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_first_answer_imports_what_it_needs() -> None:
    """Formats, other calls and masked arrays wait until a program asks for them."""
    code = (
        "import sys, kleene as kl; assert 'numpy' not in sys.modules;"
        "kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), 0).path(2);"
        "absent = ('scipy', 'numpy.ma', 'importlib.metadata', 'kleene.io.files',"
        "'kleene.calls.isochrones', 'kleene.interop', 'kleene.generate');"
        "print([m for m in absent if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_name_is_found_at_its_first_use() -> None:
    """The table of modules, the names for type checkers and ``__all__`` say the same."""
    assert set(kl._MODULES) == set(kl.__all__)
    assert dir(kl) == sorted([*kl.__all__, "__version__"])
    for module in (kl.csgraph, kl.datasets, kl.generate):
        assert dir(module) == sorted(module.__all__)
    [checked] = [
        node
        for node in ast.parse(inspect.getsource(kl)).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    named = {alias.name: node.module for node in imports for alias in node.names}
    assert named == kl._MODULES
    code = (
        "import kleene, pickle; from kleene import *; assert Graph is kleene.Graph;"
        "assert kleene.Graph is kleene.__dict__['Graph'];"
        "assert pickle.loads(pickle.dumps(kleene.bfs)) is bfs; print(kleene.__version__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_names_of_packages_are_found_at_their_first_use() -> None:
    import kleene.calls
    import kleene.io

    for package in (kleene.calls, kleene.io):
        for name in package.__all__:
            assert getattr(package, name) is not None
        with pytest.raises(AttributeError, match="nothing"):
            package.nothing  # noqa: B018


def test_all_errors_are_kleene_errors() -> None:
    errors = [getattr(kl, name) for name in kl.__all__ if name.endswith("Error")]
    assert len(errors) == 12
    assert all(issubclass(error, kl.KleeneError) for error in errors)
    assert issubclass(kl.GraphError, ValueError)
    assert issubclass(kl.FormatError, ValueError)
    assert issubclass(kl.MemoryBudgetError, MemoryError)


def test_checkers_of_types_know_names_and_keywords(tmp_path: Path) -> None:
    """Advice on names that are not there does not hide from them that these are not there."""
    api = pytest.importorskip("mypy.api")
    wrong = ["g.nodes", "kl.prepare(g).reweight", "kl.dijkstra", "kl.sssp(g, 0, cutoff=3)"]
    right = ["kl.sssp(g, 0, limit=3).distances", "kl.prepare(g).graph.weights", "kl.__version__"]
    program = tmp_path / "program.py"
    lines = ["import kleene as kl", "g = kl.datasets.rome()", *wrong, *right]
    program.write_text("\n".join(lines) + "\n")
    options = ["--config-file=", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    found, errors, _ = api.run([*options, f"--python-executable={sys.executable}", str(program)])
    assert not errors
    marked = {line.split(":")[1] for line in found.splitlines() if ": error:" in line}
    assert marked == {str(3 + i) for i in range(len(wrong))}, found
