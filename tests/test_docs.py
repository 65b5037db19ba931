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

ROOT = Path(__file__).parents[1]
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
