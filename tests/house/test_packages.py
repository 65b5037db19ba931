"""What package managers read: the recipe for conda, the extra "all", the compiler for Windows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
if not (ROOT / "release").exists():
    pytest.skip("needs the source tree", allow_module_level=True)
yaml = pytest.importorskip("yaml")

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
#: Extras of those who work on Kleene, and those that need a GPU or an MPI library.
OF_DEVELOPERS = {"dev", "docs", "fuzz", "peers", "release", "test"}
OF_SOME_MACHINES = {"cuda12", "cuda13", "mpi"}


def plain(requirement: str) -> str:
    """Return ``pymetis >=1``, as a recipe has it, for ``pymetis>=1; sys_platform == ...``."""
    return re.sub(r"(?<=\w)(?=[<>=])", " ", requirement.partition(";")[0].strip(), count=1)


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "release/conda/recipe.yaml").read_text("utf-8"))


def test_the_recipe_needs_what_the_project_needs(recipe: dict[str, Any]) -> None:
    needs = recipe["requirements"]
    assert needs["run"] == ["python", *map(plain, PROJECT["dependencies"])]
    assert needs["host"] == ["python", "pip", *map(plain, PYPROJECT["build-system"]["requires"])]


def test_the_recipe_says_what_the_project_says(recipe: dict[str, Any]) -> None:
    assert recipe["package"] == {"name": PROJECT["name"], "version": "${{ version }}"}
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert [recipe["about"]["license_file"]] == PROJECT["license-files"]
    scripts = [f"{name} = {call}" for name, call in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts


def test_the_recipe_has_the_cmake_of_the_build(recipe: dict[str, Any]) -> None:
    oldest = re.search(
        r"cmake_minimum_required\(VERSION ([\d.]+)\)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert oldest is not None
    assert f"cmake >={oldest[1]}" in recipe["requirements"]["build"]


def test_the_extra_all_has_all_extras_that_any_machine_can_use() -> None:
    first, *others = EXTRAS["all"]
    listed = re.fullmatch(r"kleene\[([\w,]+)\]", first)
    assert listed is not None
    assert set(listed[1].split(",")) == EXTRAS.keys() - {"all"} - OF_DEVELOPERS - OF_SOME_MACHINES
    assert set(others) <= set(EXTRAS["test"]), "the versions that the tests run with"


def test_the_page_about_installing_names_all_extras_of_users() -> None:
    page = (ROOT / "docs/install.md").read_text("utf-8")
    users = EXTRAS.keys() - OF_DEVELOPERS
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page, re.M)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == users


def test_wheels_for_windows_are_built_by_the_compiler_that_is_checked() -> None:
    compiler = PYPROJECT["tool"]["cibuildwheel"]["windows"]["environment"]["CXX"]
    target = re.search(r"-target (\S+)", compiler)
    assert target is not None
    assert f"c++ -target {target[1]} -std=c++20" in (ROOT / "Makefile").read_text()
    workflow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "windows-2025" in yaml.safe_load(workflow)["jobs"]["wheels"]["strategy"]["matrix"]["os"]


def test_the_check_for_windows_has_the_instructions_of_the_build() -> None:
    build, make = ((ROOT / name).read_text() for name in ("CMakeLists.txt", "Makefile"))
    for name in ("AVX2", "AVX512"):
        flags = re.search(rf"^{name} := (.*)$", make, re.M)
        assert flags is not None
        assert f"OPTIONS {flags[1]} " in build
