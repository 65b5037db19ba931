"""The software bill of materials of a wheel, as CycloneDX: ``python sbom.py VERSION FILE``.

Names what is compiled into the wheel (nanobind, and the hash table that comes with it) with the
versions of this build, and what pip installs beside it. CMake runs it, and puts the file into the
wheel as ``.dist-info/sboms/kleene.cdx.json`` (PEP 770). It says nothing of time or place: equal
builds have equal files.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nanobind

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))[
    "project"
]


def component(name: str, purl: str, licence: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a library of the bill; ``purl`` is its address among packages, and its identity."""
    fields: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, **more}
    if licence:
        fields["licenses"] = [{"license": {"id": licence}}]
    return {**fields, "purl": purl}


def compiled_in() -> list[dict[str, Any]]:
    """Return the libraries whose code is in the native modules."""
    binding = version("nanobind")
    folder = Path(nanobind.include_dir()).parent / "ext/robin_map/include/tsl"
    defined = re.findall(
        r"define TSL_RH_VERSION_\w+ (\d+)", (folder / "robin_growth_policy.h").read_text("utf-8")
    )
    table = ".".join(defined)
    return [
        component("nanobind", f"pkg:pypi/nanobind@{binding}", "BSD-3-Clause", version=binding),
        component("robin-map", f"pkg:github/Tessil/robin-map@v{table}", "MIT", version=table),
    ]


def installed_beside() -> list[dict[str, Any]]:
    """Return the dependencies, of which pip chooses the versions."""
    found = []
    for requirement in PROJECT["dependencies"]:
        name = re.split(r"[^\w.-]", requirement)[0]
        found.append(component(name, f"pkg:pypi/{name}", scope="required", description=requirement))
    return found


def bill(of_version: str) -> dict[str, Any]:
    """Return the bill of version ``of_version``, by the schema of CycloneDX 1.6."""
    name = PROJECT["name"]
    product = component(
        name, f"pkg:pypi/{name}@{of_version}", PROJECT["license"], version=of_version
    )
    parts = [*compiled_in(), *installed_beside()]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": product},
        "components": parts,
        "dependencies": [
            {"ref": product["bom-ref"], "dependsOn": sorted(part["bom-ref"] for part in parts)},
            *({"ref": part["bom-ref"]} for part in parts),
        ],
    }


if __name__ == "__main__":
    text = json.dumps(bill(sys.argv[1]), indent=2) + "\n"
    Path(sys.argv[2]).write_text(text, encoding="utf-8")
