"""Nothing imports upward."""

from __future__ import annotations

import ast
from pathlib import Path

import kleene

ROOT = Path(kleene.__file__).parent

#: From the ground up; a module may import modules of its own layer and below.
LAYERS = [
    {"errors", "_native", "_emulator", "nvidia"},
    {"machine", "semiring", "atomic", "progress", "exchange"},
    {"graph"},
    {"io", "generate", "datasets", "task", "trees", "verify"},
    {"reference", "cpu", "cuda"},
    {"registry"},
    {"estimates", "placement", "plan", "valuetype"},
    {"result"},
    {"api", "product"},
    {"matrix", "encodings", "geodesics"},
    {"layout", "picture", "doctor", "interop", "lab"},
    {"draw", "csgraph"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports(file: Path) -> set[str]:
    """Names of the top-level modules of the package that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "kleene":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kleene."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("kleene.")}
    return found


def test_nothing_imports_upward() -> None:
    upward, unknown = [], []
    for file in sorted(ROOT.rglob("*.py")):
        own = file.relative_to(ROOT).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        if own not in LEVEL:
            unknown.append(own)
            continue
        for name in imports(file):
            if LEVEL.get(name, -1) > LEVEL[own]:
                upward.append(f"{file.relative_to(ROOT)} imports {name}")
    assert not unknown, "give these modules a layer"
    assert not upward


def test_the_planner_imports_no_cupy() -> None:
    names = ("estimates", "placement", "plan", "machine", "task", "result", "api")
    for file in (*(ROOT / f"{name}.py" for name in names), *(ROOT / "registry").glob("*.py")):
        assert "cupy" not in file.read_text()
