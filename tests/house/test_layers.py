"""Nothing imports upward, backends do not import each other, and names tell the problem."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kleene

ROOT = Path(kleene.__file__).parent
SOURCES = ROOT.parent.parent
LAB = ROOT.parent / "kleene_lab"

#: From the ground up; a module may import from its own layer and from those below.
LAYERS = [
    {"errors", "_native", "_emulator", "_emulator_checked", "_emulator_tests"},
    {"system"},
    {"graph"},
    {"io", "generate", "datasets"},
    {"backends.answer", "backends.semiring", "backends.task"},
    {"backends.common"},
    {"prepared"},
    {"backends.reference", "backends.cpu", "backends.cuda"},
    {"backends.devices"},
    {"registry"},
    {"planning"},
    {"engine"},
    {"proofs"},
    {"stores"},
    {"results"},
    {"measures"},
    {"clusters"},
    {"calls", "distributed"},
    {"interop"},
    {"viz", "csgraph"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
BACKENDS = ("backends.reference", "backends.cpu", "backends.cuda")

#: The only imports by name that go upward: a graph places itself on a device, and opens a file,
#: when a user asks it to.
UPWARD_BY_NAME = {
    ("graph/core.py", "backends.cuda"),
    ("graph/convert.py", "io"),
}

_BY_NAME = re.compile(r"kleene\.([a-z_]+(?:\.[a-z_]+)*)")


def layer(module: str) -> str:
    """Return the unit that has a layer: two names deep inside backends, else one."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "backends" and len(parts) > 1 else parts[0]


def imports(file: Path) -> tuple[set[str], set[str]]:
    """Return what a file imports by statement, and what it names in strings outside docstrings."""
    tree = ast.parse(file.read_text())
    statements, strings = set(), set()
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "kleene":
            statements |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kleene."):
            module = str(node.module).removeprefix("kleene.")
            inside = (ROOT / module.replace(".", "/")).is_dir()
            names = {f"{module}.{alias.name}" for alias in node.names} if inside else {module}
            statements |= names
        elif isinstance(node, ast.Import):
            statements |= {
                a.name.removeprefix("kleene.") for a in node.names if a.name.startswith("kleene.")
            }
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            strings |= set(_BY_NAME.findall(node.value))
    return {layer(name) for name in statements}, {layer(name) for name in strings}


def modules() -> list[tuple[Path, str]]:
    """Return every file of the package, and its layer's name."""
    return [
        (file, layer(".".join(file.relative_to(ROOT).with_suffix("").parts)))
        for file in sorted(ROOT.rglob("*.py"))
        if file.relative_to(ROOT).parts[0] != "__init__.py"
        and file.relative_to(ROOT).as_posix() != "backends/__init__.py"
    ]


def test_nothing_imports_upward() -> None:
    upward, unknown = [], set()
    for file, own in modules():
        name = file.relative_to(ROOT).as_posix()
        if own not in LEVEL:
            unknown.add(own)
            continue
        statements, strings = imports(file)
        upward += [
            f"{name} imports {other}"
            for other in statements
            if LEVEL.get(other, -1) > LEVEL[own] and (name, other) not in UPWARD_BY_NAME
        ]
        if own in ("registry", *BACKENDS) or LEVEL[own] < LEVEL["registry"]:
            upward += [
                f"{name} names {other}"
                for other in strings
                if LEVEL.get(other, -1) > LEVEL[own] and (name, other) not in UPWARD_BY_NAME
            ]
    assert not unknown, "give these modules a layer"
    assert not upward


def test_backends_do_not_import_each_other() -> None:
    siblings = []
    for file, own in modules():
        if own in BACKENDS:
            statements, strings = imports(file)
            others = (statements | strings) & set(BACKENDS) - {own}
            siblings += [f"{file.relative_to(ROOT)} imports {other}" for other in others]
    assert not siblings


def lab_imports(file: Path) -> list[str]:
    """Return what a file of the lab takes from Kleene, dotted: by imports, and as ``kl.name``."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found += [f"kleene.{node.attr}"] if node.value.id in ("kl", "kleene") else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += re.findall(r"^\s*(?:from|import) (kleene[.\w]*)", node.value, re.M)
    return [name for name in found if name.partition(".")[0] == "kleene"]


def public_names() -> set[str]:
    """Return the names that the lab may use, dotted."""
    modules = {"kleene", "kleene.csgraph", "kleene.errors", "kleene.calls.programs"}
    named = {f"{module}.{name}" for module in modules for name in import_module(module).__all__}
    return modules | named | {"kleene.__version__"}


def test_the_lab_uses_public_names_only() -> None:
    """What the lab measures is what users call."""
    files = sorted(LAB.rglob("*.py"))
    assert len(files) > 40
    known = public_names()
    used = {name for file in files for name in lab_imports(file)}
    assert used >= {"kleene.Graph", "kleene.calls.programs.cores"}
    assert sorted(used - known) == []


def test_a_private_name_in_the_lab_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "planted.py"
    file.write_text(
        "from kleene.system import machine\nimport kleene as kl\nkl._native.x()\n"
        "def f():\n    import kleene.graph.core\n"
        "PROGRAM = '\\nfrom kleene.cli.main import main\\n'\n"
    )
    assert set(lab_imports(file)) - public_names() == {
        "kleene.system.machine", "kleene._native", "kleene.graph.core", "kleene.cli.main",
    }  # fmt: skip


def test_the_lab_is_imported_by_its_commands_only() -> None:
    named = {
        file.relative_to(ROOT).as_posix()
        for file in ROOT.rglob("*.py")
        if "kleene_lab" in file.read_text(encoding="utf-8")
    }
    assert named == {
        "cli/completion.py", "cli/commands/lab.py", "cli/commands/lab_progress.py",
    }  # fmt: skip


def test_the_lab_is_imported_when_its_commands_run() -> None:
    program = (
        "import sys, kleene, kleene.cli.main, kleene.cli.completion\n"
        "import kleene.cli.commands.lab\n"
        "assert 'kleene_lab' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_planted_import_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "planted.py"
    file.write_text('import_module("kleene.backends.cpu.sssp")\nfrom kleene.calls import bfs\n')
    statements, strings = imports(file)
    assert (statements, strings) == ({"calls"}, {"backends.cpu"})


def top_names(file: Path) -> list[tuple[str, str]]:
    """Return the names that a file imports at its top from modules of the package, with these."""
    return [
        (str(node.module), alias.name)
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("kleene.")
        for alias in node.names
    ]


def test_commands_import_names_from_where_they_are_defined() -> None:
    passed_on = {
        (".".join(("kleene", *file.relative_to(ROOT).with_suffix("").parts)), name)
        for file in (ROOT / "cli").rglob("*.py")
        for _, name in top_names(file)
    }
    found = [
        f"{file.name}: {name} from {module}"
        for file in (ROOT / "cli").rglob("*.py")
        for module, name in top_names(file)
        if (module, name) in passed_on
    ]
    assert not found


def test_a_constant_has_one_name() -> None:
    found = []
    for file, _ in modules():
        imported = {name for _, name in top_names(file)}
        found += [
            f"{file.relative_to(ROOT)}: {ast.unparse(node)}"
            for node in ast.parse(file.read_text()).body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name)
            and node.value.id in imported
        ]
    assert not found


def test_planning_imports_no_gpu_library() -> None:
    names = ("planning", "registry", "proofs", "results", "calls")
    for file in (file for name in names for file in (ROOT / name).glob("*.py")):
        assert not re.search(r"^\s*(import|from) (cupy|cuda)\b", file.read_text(), re.M), file


def test_one_file_has_the_calls_that_cuda_core_lacks() -> None:
    """The device is written on cuda.core; its modules are imported when a GPU is opened."""
    users: dict[str, set[str]] = {"bindings": set(), "core": set()}
    for file in (*ROOT.rglob("*.py"), *LAB.rglob("*.py")):
        for module in re.findall(r"^\s*(?:import|from) cuda\.(\w+)", file.read_text(), re.M):
            users[module].add(file.name)
        if file.name != "peers.py":  # another library, whose arrays are CuPy's
            assert not re.search(r"^\s*(?:import|from) cupy", file.read_text(), re.M), file
    assert users["bindings"] == {"cuda_driver.py"}
    assert users["core"] == {"cuda_device.py", "cuda_kernel.py", "cuda_memory.py", "doctor.py"}


#: What parses the header of an .npy file, or Python, by ast: before Python 3.11.8 it fails now and
#: then where several threads do that (python/cpython#106905).
PARSED_BY_AST = re.compile(
    r"^(?!\s*(?:>>>|\.\.\.)).*(?:\bnp\.load\(|\bopen_memmap\(|\bformat\.read_|\bimport ast\b)", re.M
)


def test_files_and_kernels_are_read_without_ast() -> None:
    found = [
        f"{file.relative_to(SOURCES)}: {line[0].strip()}"
        for file in (*ROOT.rglob("*.py"), *LAB.rglob("*.py"))
        for line in PARSED_BY_AST.finditer(file.read_text())
    ]
    assert not found, "read headers of .npy files by system/npy_header.py"
    assert PARSED_BY_AST.search("    found = np.load(path)")


def test_one_file_writes_headers_of_arrays() -> None:
    writers = {file.name for file in ROOT.rglob("*.py") if "write_array_header" in file.read_text()}
    assert writers == {"npy_header.py"}


def test_arrays_are_not_written_by_functions_that_take_ctrl_c_for_a_path() -> None:
    lossy = re.compile(r"^(?!\s*(?:>>>|\.\.\.)).*(?:\bnp\.save\(|\.tofile\()", re.M)
    found = [
        f"{file.relative_to(ROOT)}: {line[0].strip()}"
        for file in ROOT.rglob("*.py")
        for line in lossy.finditer(file.read_text())
    ]
    assert not found, "write arrays by system/npy_header.write_array"
    assert lossy.search("    np.save(file, ids)")


def test_the_root_holds_the_public_names_only() -> None:
    names = {"__init__.py", "csgraph.py", "distributed.py", "errors.py"}
    assert {file.name for file in ROOT.glob("*.py")} == names


#: Files and folders of backends that belong to no single problem.
SHARED = {
    "backends/cuda": {
        "answer", "classic", "graph", "kernels", "load_balance", "rows", "runtime", "tuning",
        "variants",
    },
}  # fmt: skip
PROBLEMS = (
    "bfs", "sssp", "apsp", "closure", "spmv", "components", "distance_encodings", "near",
    "prepared", "betweenness", "loads", "product",
)  # fmt: skip


@pytest.mark.parametrize("folder", ["backends/cuda", "backends/cpu", "backends/reference"])
def test_a_file_of_a_backend_names_its_problem(folder: str) -> None:
    """So that listing ``*sssp*`` shows all of single-source shortest paths."""
    named = {file.stem for file in (ROOT / folder).iterdir() if not file.name.startswith("__")}
    assert named - SHARED.get(folder, set()) <= set(PROBLEMS)


@pytest.mark.parametrize("problem", ["bfs", "sssp", "closure", "spmv"])
def test_every_layer_has_the_problem_under_its_name(problem: str) -> None:
    """Listing ``*sssp*`` shows single-source shortest paths in every layer."""
    layers = {
        "calls": ROOT / "calls",
        "cpu": ROOT / "backends/cpu",
        "cuda": ROOT / "backends/cuda",
        "kernels": ROOT / "backends/cuda/kernels",
        "bindings": SOURCES / "native/bindings",
        "core": SOURCES / "native/core",
    }
    for name, folder in layers.items():
        assert list(folder.rglob(f"*{problem}*")), (name, problem)


PARENTS = r"(?<!\.)\bparents\b(?!=)"

#: Words that readers of the field do not search for, and what to say.
REPLACED = {
    PARENTS: "predecessors",
    r"\bcrew\b": "team",
    r"\b(told|tells) (of|by|the)\b": "reports",
    r"\b(nobody|somebody)\b": "the subject",
    r"\bgone on with\b": "resumed",
}


def test_the_fields_own_words() -> None:
    suffixes = {".py", ".cpp", ".hpp", ".inl", ".cu", ".cuh", ".md"}
    folders = ("src/kleene", "src/kleene_lab", "native", "docs")
    found = []
    for file in (f for name in folders for f in (SOURCES / name).rglob("*")):
        if file.suffix in suffixes and file.is_file():
            # In a generator of trees, and in an elimination tree, a vertex does have a parent.
            trees = re.search("generate|prepared|bindings/near", str(file.relative_to(SOURCES)))
            for number, line in enumerate(file.read_text().splitlines(), 1):
                found += [
                    f"{file.relative_to(SOURCES)}:{number}: say {instead!r}: {line.strip()}"
                    for word, instead in REPLACED.items()
                    if re.search(word, line) and not (trees and word == PARENTS)
                ]
    assert not found


#: What a module imports when it is used: few programs need it, and it takes time to import.
LATE = ("_emulator", "backends.cuda", "clusters", "stores")


def imports_in_functions(file: Path) -> list[str]:
    """Return the lines in functions that import what is not late, and do not say why."""
    text = file.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    at_top = {id(node) for node in tree.body} | {
        id(inner) for node in tree.body if isinstance(node, ast.If) for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in at_top:
            module = str(node.module)
            names = [f"{module}.{alias.name}".removeprefix("kleene.") for alias in node.names]
            ours = module.startswith("kleene") and not all(n.startswith(LATE) for n in names)
            said = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
            found += [f"{file.name}:{node.lineno}"] * (ours and not said)
    return found


def test_imports_in_functions_say_why() -> None:
    """Commands import what they run when they run; elsewhere it is marked, or known to be late."""
    files = [file for file, own in modules() if own != "cli"]
    assert [line for file in files for line in imports_in_functions(file)] == []


def test_a_planted_import_in_a_function_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "planted.py"
    file.write_text(
        "def f():\n    from kleene.calls.sssp import sssp\n"
        "def g():\n    from kleene.stores.sink import store_sink\n"
        "def h():\n    from kleene.calls.bfs import bfs  # few programs search by hops\n"
    )
    assert imports_in_functions(file) == ["planted.py:2"]


# ---- the engine ---------------------------------------------------------------------------------


def imported_at_run_time(file: Path) -> set[str]:
    """Return the modules of Kleene that a file imports, at its top or in functions."""
    tree = ast.parse(file.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kleene"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                place = ROOT.parent / inner.replace(".", "/")
                is_module = place.is_dir() or place.with_suffix(".py").is_file()
                found.add(inner if is_module else str(node.module))
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("kleene")}
    return found


FOREIGN = ("backends.cuda", "clusters", "results", "stores")


def test_the_engine_knows_no_store_no_cluster_and_no_cuda() -> None:
    known = {
        (file.name, module)
        for file in (ROOT / "engine").glob("*.py")
        for module in imported_at_run_time(file)
        if module.startswith(
            ("kleene.stores", "kleene.clusters", "kleene.backends.cuda", "kleene.results")
        )
    }
    assert not known


#: What the engine does for all calls, by the names that do it.
ENGINES_OWN = {
    "plans": r"(plan_call|make_plan|choose_(device|devices|dtype|method))",
    "finds": r"(kleene\.registry\.find|(method|_?row)\.load|load_(in_place|rounds|tiles))",
    "times": r"(perf_counter|monotonic|process_time)\w*",
    "reports": r"reporter",
}

#: The layers above the engine; short roads do none of it: PreparedGraph.distance and path, and
#: csgraph's small calls.
ABOVE = (
    "calls", "clusters", "measures", "proofs", "results", "stores", "interop", "cli",
)  # fmt: skip

#: Files above the engine that plan, find methods, take the time or show progress by themselves, and
#: why. None may join them without a reason; a file that needs it no more is struck off.
ON_THEIR_OWN = {
    "plans": {
        "calls/nearest.py": "the type of lengths, which a prepared graph may have",
        "calls/prepared_steps.py": "the type of the values that are prepared",
        "clusters/mpi/sssp.py": "ranks have no client that plans",
        "stores/sink.py": "the rows of a block, before there is a plan",
        "proofs/claim.py": "a proof asks which types hold the lengths",
    },
    "finds": {
        "clusters/dask/calls.py": "which methods devices of workers have",
        "stores/rounds.py": "runs a method in rounds, not once",
        "stores/sink.py": "whether the method that began is here",
        "clusters/dask/tile_tasks.py": "runs a method on tiles, not once",
        "results/saved.py": "whether a file names a method that there is",
    },
    "times": {
        "cli/ranks.py": "ranks of MPI have a clock of their own",
        "cli/commands/demo.py": "a demonstration, as a user would write it",
        "clusters/dask/client.py": "waits for workers that are gone",
        "clusters/dask/runner.py": "pieces follow from the seconds of others",
        "clusters/dask/tiles.py": "waits for workers; checkpoints by the clock",
        "clusters/mpi/launch.py": "waits until output is read",
        "clusters/mpi/verify.py": "a proof says how long it took",
        "measures/betweenness.py": "a proof says how long it took",
        "measures/loads_proof.py": "a proof says how long it took",
        "measures/path_counts.py": "a proof says how long it took",
        "proofs/paths.py": "a proof says how long it took",
        "proofs/nearest.py": "a proof says how long it took",
        "proofs/pairs.py": "a proof says how long it took",
        "proofs/reach.py": "a proof says how long it took",
        "proofs/rows.py": "a proof says how long it took",
    },
    "reports": {
        "cli/commands/graphs.py": "generates or writes a graph: no call",
        "cli/commands/stores.py": "proves a store: no call",
        "cli/options.py": "reads a file: no call",
    },
}


def engines_own(file: Path) -> set[str]:
    """Return what of the engine's work a file does, by the names that it uses."""
    tree, used, imported = ast.parse(file.read_text()), set(), dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                used |= {alias.name, f"{node.module}.{alias.name}"}
        elif isinstance(node, ast.Attribute):
            of = getattr(node.value, "id", getattr(node.value, "attr", ""))
            used |= {node.attr, f"{imported.get(of, of)}.{node.attr}"}
    return {
        kind
        for kind, names in ENGINES_OWN.items()
        if any(re.fullmatch(names, name) for name in used)
    }


@pytest.mark.parametrize("kind", ENGINES_OWN)
def test_one_place_plans_finds_methods_times_and_reports(kind: str) -> None:
    found = {
        file.relative_to(ROOT).as_posix()
        for folder in ABOVE
        for file in (ROOT / folder).rglob("*.py")
        if kind in engines_own(file)
    }
    assert found - ON_THEIR_OWN[kind].keys() == set(), "let the engine do it, or give a reason"
    assert ON_THEIR_OWN[kind].keys() - found == set(), "strike these off the list"


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("from kleene.planning.rules import choose_method as by", {"plans"}),
        ("from kleene.planning import plan\nplan.make_plan(1, 2)", {"plans"}),
        ("from kleene.registry import find\nfind('sssp', 'dijkstra', 'cpu')", {"finds"}),
        ("from kleene import registry\nregistry.find('sssp', 'dijkstra', 'cpu')", {"finds"}),
        ("found = method.load()", {"finds"}),
        ("found = plan._row.load_tiles()", {"finds"}),
        ("import time\nbegan = time.perf_counter()", {"times"}),
        ("from time import monotonic\nbegan = monotonic()", {"times"}),
        ("from kleene.system.progress import reporter\nwith reporter(True, ''): pass", {"reports"}),
        ("import time\ntime.sleep(1)\nfind(points)\nnumpy.load(file)\ntext.find('a')", set()),
    ],
)
def test_a_planted_call_is_seen(tmp_path: Path, line: str, kinds: set[str]) -> None:
    file = tmp_path / "planted.py"
    file.write_text(line)
    assert engines_own(file) == kinds


def test_calls_are_planned_in_one_place() -> None:
    calls = re.compile(r"\b(plan_call|make_plan)\(")
    planners = {
        file.relative_to(ROOT).as_posix()
        for file in ROOT.rglob("*.py")
        if calls.search(file.read_text()) and file.parent.name != "engine"
    }
    assert planners == {"planning/plan.py"}


def test_no_modules_import_each_other() -> None:
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in ROOT.rglob("*.py")
    }
    uses = {
        name: {m.removeprefix("kleene.") for m in imported_at_run_time(file)} & files.keys()
        for name, file in files.items()
    }
    reached: dict[str, set[str]] = {}
    for name in files:
        found, stack = set[str](), list(uses[name])
        while stack:
            module = stack.pop()
            if module not in found:
                found.add(module)
                stack += uses[module]
        reached[name] = found
    cycles = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in files
        if name in reached[name]
    }
    assert sorted(map(sorted, cycles)) == []
