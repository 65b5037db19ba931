"""What the documentation promises: parameters described, pages run, chart and citation current."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from test_public import public_callables

import kleene as kl

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = ("api", "gallery")


def pages() -> list[Path]:
    return [
        path
        for path in sorted(DOCS.rglob("*.md"))
        if path.relative_to(DOCS).parts[0] not in GENERATED
    ]


# ---- parameters ---------------------------------------------------------------------------------


def documented(item: Any) -> set[str]:
    """Return the names in the section Parameters of a docstring."""
    text = inspect.getdoc(item) or ""
    section = re.search(
        r"^(?:Other )?Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", text, re.M | re.S
    )
    names: set[str] = set()
    for head in re.findall(r"^(\S[^:\n]*?)(?: *:.*)?$", section[1] if section else "", re.M):
        names |= {name.strip(" *") for name in head.split(",")}
    return names


def parameters(item: Any) -> list[str]:
    """Return the names of all parameters but self."""
    try:
        signature = inspect.signature(item)
    except (TypeError, ValueError):
        return []
    return [name for name in signature.parameters if name not in ("self", "cls")]


def test_every_parameter_of_a_public_function_is_described() -> None:
    missing = []
    for name, item in public_callables():
        is_class = inspect.isclass(item)
        if is_class and (issubclass(item, Exception) or item in NOT_CONSTRUCTED):
            continue
        if not str(getattr(item, "__module__", "")).startswith("kleene"):  # csgraph has SciPy's too
            continue
        absent = [one for one in parameters(item) if one not in documented(item)]
        missing += [f"{name}({one})" for one in absent]
    assert missing == []


def test_no_parameter_is_described_by_another_function_alone() -> None:
    """The reader of one page should not need a second."""
    pattern = re.compile(r"^ +(As (?:for|in|of) [^\n]*\.)$", re.M)
    elsewhere = {
        name: pattern.findall(doc)
        for name, item in public_callables()
        if str(getattr(item, "__module__", "")).startswith("kleene")
        and (doc := item.__doc__ or "")
        and pattern.search(doc)
    }
    assert elsewhere == {}


#: Made by calls and by other constructors, not by users.
NOT_CONSTRUCTED = (
    kl.Betweenness, kl.DistanceReduction, kl.Graph, kl.Isochrones, kl.Loads, kl.Nearest,
    kl.PairsResult, kl.PathCounts, kl.PreparedGraph, kl.Reach,
    kl.Result, kl.distributed.DistributedGraph, kl.distributed.DistributedResult,
)  # fmt: skip


# ---- pages --------------------------------------------------------------------------------------


def test_every_page_with_examples_is_run() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    tested = {path for path in options["testpaths"] if path.endswith(".md")}
    examples = {f"docs/{p.relative_to(DOCS)}" for p in pages() if ">>>" in p.read_text()}
    assert examples == tested


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = set()
    for page in pages():
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.S):
            lines = [line.strip() for line in tree.splitlines() if line.strip()]
            listed |= {
                re.sub(r".*<(.*)>", r"\1", line) for line in lines if not line.startswith(":")
            }
    assert {page.stem for page in pages()} - {"index"} <= listed


def test_links_between_pages_lead_somewhere() -> None:
    for page in (*pages(), ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
            target = page.parent / link
            if link.startswith("gallery/"):  # made by the build from examples/gallery
                continue
            assert target.exists(), f"{page.name}: {link}"


# ---- files that pages name ----------------------------------------------------------------------

#: Where the names of files on pages for developers begin, and what they may leave out.
_CUDA = "src/kleene/backends/cuda"
_ROOTS = ("", "src", "src/kleene", _CUDA, f"{_CUDA}/kernels")
_SUFFIXES = ("", ".py", ".cpp", ".hpp", ".cu", ".md")


def is_named(name: str) -> bool:
    """Return whether a name on a page leads to a file or a folder."""
    there = [ROOT / root / f"{name}{suffix}" for root in _ROOTS for suffix in _SUFFIXES]
    return any(path.exists() for path in there)


def table_rows(page: str, title: str) -> list[list[str]]:
    """Return the cells of the rows of the first table below a title."""
    lines = iter((DOCS / page).read_text().partition(f"{title}\n")[2].splitlines())
    rows = [next(line for line in lines if line.startswith("|"))]
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append(line)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def files_of_a_walk(walk: str) -> list[str]:
    """Return the names of the files of a walk: a folder may name several of its files."""
    names = []
    for step in re.split(r"→|;", walk):
        _, first, inside = step.split("`")
        names += [first + name for name in re.findall(r"\w+", inside)] or [first]
    return names


WALKS = table_rows("architecture.md", "## Walks through the code")


@pytest.mark.parametrize("walk", [walk for _, walk in WALKS], ids=[call for call, _ in WALKS])
def test_a_walk_passes_files_that_there_are(walk: str) -> None:
    names = files_of_a_walk(walk)
    assert len(names) >= 5
    assert [name for name in names if not is_named(name)] == []


def test_the_names_of_a_walk_are_read() -> None:
    walk = "`calls/` sssp, gone → `engine/work` → `registry/`; on a worker: `io/` text"
    names = ["calls/sssp", "calls/gone", "engine/work", "registry/", "io/text"]
    assert files_of_a_walk(walk) == names
    assert [name for name in names if not is_named(name)] == ["calls/gone"]


def test_folders_have_the_files_that_their_table_names() -> None:
    rows = table_rows("architecture.md", "# How it is built")
    assert len(rows) > 25
    missing = []
    for folders, holds in rows:
        first = re.findall(r"`([^`]+)`", folders)[0]
        assert is_named(first), first
        own = ROOT / first
        known = {path.stem for path in own.rglob("*")} | {path.name for path in own.rglob("*")}
        missing += [
            f"{first}: {name}" for name in re.findall(r"`([\w.]+)/?`", holds) if name not in known
        ]
    assert missing == []


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md", "docs/concepts.md"])
def test_paths_on_a_page_lead_to_files(page: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S)
    words = [word for code in re.findall(r"`([^`]+)`", text) for word in code.split()]
    paths = [word for word in words if re.fullmatch(r"[\w.-]+(/[\w.-]+)+/?", word)]
    assert [path for path in paths if not is_named(path)] == []


def native_files_named(text: str) -> list[str]:
    """Return the C++ files that a text names, by their paths or the ends of these."""
    return re.findall(r"(?<![\w./])[\w/]+(?:\.\w+)*\.(?:cpp|hpp|inl)\b", text)


def test_native_files_that_sources_name_are_there() -> None:
    """In comments and docstrings; a record in the docs may be older than the files."""
    native = [path.relative_to(ROOT).parts for path in (ROOT / "native").rglob("*.*")]
    there = {"/".join(parts[at:]) for parts in native for at in range(len(parts))}
    folders = {"native": "*", "src": "*.py*", "docs": "*.md"}
    suffixes = {".cpp", ".hpp", ".inl", ".cu", ".py", ".pyi", ".md"}
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for folder, pattern in folders.items()
        for path in (ROOT / folder).rglob(pattern)
        if path.suffix in suffixes and path.name != "trust.md"
        for name in native_files_named(path.read_text())
        if name.lstrip("/") not in there
    ]
    assert missing == []


def test_native_files_are_read_from_a_text() -> None:
    text = "see `native/core/bfs/bfs.hpp` (frontier.cpp), core/*/methods.cpp and *.each_level.cpp"
    names = ["native/core/bfs/bfs.hpp", "frontier.cpp", "/methods.cpp"]
    assert native_files_named(text) == names


# ---- the chart and the citation -----------------------------------------------------------------


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_the_chart_of_the_readme_is_made_from_the_records() -> None:
    module = load(ROOT / "benchmarks/comparison_chart.py")
    assert module.CHART.read_text(encoding="utf-8") == module.chart()
    readme = (ROOT / "README.md").read_text()
    assert "docs/_static/comparison.svg" in readme
    for group in module.GROUPS:
        assert group.experiment in readme, "the command that repeats it"
        assert f"benchmarks/{group.record}" in readme


def test_the_citation_has_what_its_format_requires() -> None:
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    assert citation["type"] == "software"
    assert citation["license"] == project["license"]
    assert all({"name"} <= author.keys() for author in citation["authors"])
    allowed = {"cff-version", "message", "title", "abstract", "type", "authors", "url", "license",
               "keywords"}  # fmt: skip
    assert citation.keys() <= allowed
    assert len(set(citation["keywords"])) == len(citation["keywords"])
    assert json.dumps(citation)  # plain values: no dates, no numbers where text is required
