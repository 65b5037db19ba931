"""Everything about a release that one machine can check: ``make release-check``.

1. The source archive is built twice, and must have the same hash.
2. Wheels are built from it in clean environments: one for the stable ABI of Python 3.12, which
   serves later versions too, and one for each older Python; settings are those of cibuildwheel.
3. Each wheel is repaired and audited: system libraries, stable ABI, metadata, size, bill of
   materials.
4. For each Python the wheel is installed in a fresh environment, tried by tests/house/smoke.py, and
   tested by the test suite, away from the sources.

What is good lands in ``dist``; all else in ``build/release``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from version_from_tag import ROOT, check_changelog, version

WORK = ROOT / "build/release"
DIST = ROOT / "dist"
TOOLS = Path(sys.executable).parent
LARGEST = 10_000_000  # bytes of a wheel
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]
# What the suite reads beside the installed package.
TESTS = (
    *("tests", "docs", "examples", "benchmarks", "torture"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"),
)
ABOUT_SOURCES = ("tests/house/test_layers.py",)


def run(*command: object, cwd: Path = ROOT) -> str:
    """Run a command in a clean environment, and return its output; stop the check if it fails."""
    kept = ("HOME", "LANG", "TMPDIR", "PIP_", "CCACHE_", "SSL_", "XDG_")
    env = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    env["PATH"] = f"{TOOLS}:/usr/local/bin:/usr/bin:/bin"
    env |= {"SOURCE_DATE_EPOCH": _date(), "NO_COLOR": "1"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def _date() -> str:
    """Return the time of the commit, in seconds: the date of every file in archives."""
    log = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True
    )
    return log.stdout.strip() or "1577836800"  # of a source archive: 2020


def clean(folder: Path) -> Path:
    """Return ``folder``, emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def say(text: str) -> None:
    print(text, flush=True)


# ---- 1. the source archive -----------------------------------------------------------------------


def build_sdist() -> Path:
    """Build the source archive twice, and return it."""
    built = []
    for folder in ("sdist-1", "sdist-2"):
        run(TOOLS / "python", "-m", "build", "--sdist", "--outdir", clean(WORK / folder), ROOT)
        built.append(next((WORK / folder).glob("*.tar.gz")))
    hashes = {hashlib.sha256(path.read_bytes()).hexdigest() for path in built}
    if len(hashes) > 1:
        raise SystemExit(f"the source archive differs from build to build: {built[0]}, {built[1]}")
    size = built[0].stat().st_size
    say(f"sdist       {built[0].name}, {size:,} bytes, twice with sha256 {hashes.pop()}")
    return Path(shutil.copy(built[0], DIST))


def unpack(sdist: Path) -> Path:
    """Return the sources of the archive, always in the same place, so that ccache knows them."""
    with tarfile.open(sdist) as archive:
        archive.extractall(clean(WORK / "unpacked"), filter="data")
    return next((WORK / "unpacked").iterdir()).rename(WORK / "unpacked/kleene")


# ---- 2. wheels -----------------------------------------------------------------------------------


def build_wheel(python: Path, sources: Path) -> Path:
    """Build a wheel of ``sources``, with pip and nothing else in the environment."""
    options = [f"-C{name}={value}" for name, value in SETTINGS["config-settings"].items()]
    raw = clean(WORK / "raw")
    run(python, "-m", "pip", "wheel", "--no-deps", *options, "--wheel-dir", raw, sources)
    return next(raw.glob("*.whl"))


# ---- 3. audits -----------------------------------------------------------------------------------


def repair(raw: Path) -> Path:
    """Tag the wheel with the systems that it runs on, and return the one in ``dist``."""
    if sys.platform != "linux":
        return Path(shutil.copy(raw, DIST))
    made = clean(WORK / "repaired")
    run(TOOLS / "auditwheel", "repair", "--wheel-dir", made, raw)
    return Path(shutil.copy(next(made.glob("*.whl")), DIST))


def audit(wheel: Path) -> None:
    """Check the stable ABI, the size and the contents of a wheel."""
    if "-abi3-" in wheel.name:
        said = run(TOOLS / "abi3audit", "--strict", "--summary", wheel).split(":", 3)[-1]
        say(f"abi3audit   {' '.join(said.split())}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        bills = [name for name in names if name.endswith(".dist-info/sboms/kleene.cdx.json")]
        if len(bills) != 1:
            raise SystemExit(f"{wheel.name}: no bill of materials")
        wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(
            archive.read(bills[0]).decode()
        )
        if wrong is not None:
            raise SystemExit(f"{wheel.name}: {bills[0]}: {wrong}")
        ours = {"kleene", "kleene_lab", "_kleene_cli", "_kleene_networkx"}
        foreign = {name.split("/")[0] for name in names} - ours
        if {name.split("-")[0] for name in foreign} != {"kleene"} or len(foreign) != 1:
            raise SystemExit(f"{wheel.name}: holds {', '.join(sorted(foreign))}")
    size = wheel.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{wheel.name}: {size:,} bytes, more than {LARGEST:,}")
    say(f"wheel       {wheel.name}, {size:,} bytes")


# ---- 4. installed --------------------------------------------------------------------------------


def new_environment(python: str) -> Path:
    """Return the interpreter of a fresh virtual environment."""
    name = run(python, "-c", "import sys; print('python%d.%d' % sys.version_info[:2])").strip()
    folder = clean(WORK / name)
    run(python, "-m", "venv", folder)
    return folder / "bin/python"


def try_installed(python: Path, suite: bool, arguments: list[str]) -> None:
    """Install the fitting wheel of ``dist``; run the smoke test, and the suite on request."""
    pip = (python, "-m", "pip", "install", "--quiet")
    run(*pip, "--no-index", "--no-deps", "--find-links", DIST, "kleene")
    run(*pip, "kleene")  # what it depends on
    away = clean(WORK / f"{python.parents[1].name}-tests")
    smoke = shutil.copy(ROOT / "tests/house/smoke.py", away)
    say(f"smoke       {run(python, '-I', smoke, cwd=away).strip().splitlines()[-1]}")
    if not suite:
        return
    run(*pip, "kleene[test]")
    for name in TESTS:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, away / name)
    pages = [f"docs/{path.name}" for path in map(Path, _pages())]
    ignored = [f"--ignore={path}" for path in ABOUT_SOURCES]
    options = [
        "-p",
        "no:cacheprovider",
        "-q",
        *ignored,
        *(arguments or ["-n", "2", "--dist", "worksteal"]),
    ]
    said = run(python, "-m", "pytest", *options, "tests", *pages, cwd=away).strip()
    say(f"suite       {said.splitlines()[-1].strip('= ')}")


def _pages() -> list[str]:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]
    return [path for path in options["ini_options"]["testpaths"] if path.endswith(".md")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="+", required=True, help="interpreters, oldest first")
    parser.add_argument("--no-suite", action="store_true", help="the smoke test is enough")
    parser.add_argument(
        "--pytest", nargs=argparse.REMAINDER, default=[], help="arguments of pytest"
    )
    options = parser.parse_args()

    check_changelog()
    say(f"version     {version()}")
    clean(DIST)
    sources = unpack(build_sdist())
    environments = [new_environment(python) for python in options.python]
    for python in environments:
        stable = tuple(map(int, python.parents[1].name[6:].split("."))) >= (3, 12)
        if not (stable and list(DIST.glob("*-abi3-*.whl"))):
            audit(repair(build_wheel(python, sources)))
    say(f"twine       {run(TOOLS / 'twine', 'check', '--strict', *DIST.iterdir()).split()[-1]}")
    for python in environments:
        try_installed(python, not options.no_suite, options.pytest)


if __name__ == "__main__":
    main()
