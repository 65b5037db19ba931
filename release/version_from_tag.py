"""The version of a source tree: that of its tag. The build backend asks ``dynamic_metadata``.

A commit with the tag v1.2.3 is version 1.2.3; five commits later the version is 1.2.4.dev5+gHASH. A
tree that git cannot describe has the version of what it came with: PKG-INFO in a source archive,
``.git_archival.txt`` in an archive that git made; in a plain copy, or a clone without tags, the
CHANGELOG says which release is next. Needs Python and nothing else: every build works offline.

``python release/version_from_tag.py`` prints the version and checks the headings of the CHANGELOG;
with a tag as argument it also fails unless the tree is ready to be released under that tag.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
_DESCRIBE = ["git", "describe", "--tags", "--always", "--dirty", "--abbrev=9", "--match=v[0-9]*"]
_DESCRIPTION = re.compile(
    r"(?:v(?P<tag>\d[^-]*)(?:-(?P<commits>\d+)-g|(?=-dirty|$)))?"
    r"(?P<commit>[0-9a-f]*)(?P<dirty>-dirty)?"
)
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:rc\d+)?")
_HEADING = re.compile(r"## (?P<name>\S+)(?: \((?P<date>.*)\))?")


class Section(NamedTuple):
    """A heading of the CHANGELOG: "Unreleased", or a version and the date of its release."""

    name: str
    date: str

    @property
    def released(self) -> bool:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", self.date) is not None


# ---- the version ---------------------------------------------------------------------------------


def version(root: Path = ROOT) -> str:
    """Return the version of the tree at ``root``."""
    if (root / "PKG-INFO").exists():
        return str(HeaderParser().parsestr((root / "PKG-INFO").read_text("utf-8"))["Version"])
    for description in _descriptions(root):
        return _from_description(description, root)
    top, *_ = sections(root)
    return top.name if top.released else f"{_next_release(root)}.dev0+unknown"


def dynamic_metadata(field: str, settings: Mapping[str, Any] | None = None) -> str:
    """Return the version for scikit-build-core."""
    if field != "version" or settings:
        raise ValueError(f"{__name__} knows the version, and has no settings")
    return version()


def _descriptions(root: Path) -> Iterator[str]:
    """Yield what git says about the tree, or said about it when it made the archive."""
    if (root / ".git").exists():  # a copy inside another project's repository has none
        try:
            run = subprocess.run(_DESCRIBE, cwd=root, capture_output=True, text=True, check=True)
            yield run.stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            pass  # no git, or a repository of another user
    archival = root / ".git_archival.txt"
    lines = archival.read_text("utf-8").split() if archival.exists() else []
    yield from (line for line in lines if "$" not in line)


def _from_description(description: str, root: Path) -> str:
    match = _DESCRIPTION.fullmatch(description)
    if match is None:
        raise ValueError(f"{description!r} is no description of a version; tags are named v1.2.3")
    tag, commits, commit, dirty = match["tag"], match["commits"], match["commit"], match["dirty"]
    if tag and not commits and not dirty:
        return str(tag)
    base = f"{_after(tag)}.dev{commits or 0}" if tag else f"{_next_release(root)}.dev0"
    local = ".".join(filter(None, ["g" + commit if commit else "", "dirty" if dirty else ""]))
    return f"{base}+{local}"


def _after(release: str) -> str:
    """Return the version that follows ``release``: its last number and one."""
    return re.sub(r"\d+$", lambda number: str(int(number[0]) + 1), release)


# ---- the changelog -------------------------------------------------------------------------------


def sections(root: Path = ROOT) -> list[Section]:
    """Return the headings of the CHANGELOG, newest first."""
    lines = (root / "CHANGELOG.md").read_text("utf-8").splitlines()
    found = [Section("", line) for line in lines if line.startswith("## ")]
    for k, (_, line) in enumerate(found):
        match = _HEADING.fullmatch(line)
        if match is None or not (
            match["name"] == "Unreleased" or _VERSION.fullmatch(match["name"])
        ):
            raise ValueError(f'CHANGELOG.md: "{line}" is neither "## Unreleased" nor a version')
        found[k] = Section(match["name"], match["date"] or "")
    if not found:
        raise ValueError("CHANGELOG.md has no sections")
    return found


def _next_release(root: Path) -> str:
    newest = next((section for section in sections(root) if section.name != "Unreleased"), None)
    if newest is None:
        return "0.1.0"
    return _after(newest.name) if newest.released else newest.name


def check_changelog(root: Path = ROOT, tag: str | None = None) -> None:
    """Raise ValueError unless the newest section is "Unreleased", or the version of the tag."""
    top, *older = sections(root)
    if any(section.name == "Unreleased" for section in older):
        raise ValueError('CHANGELOG.md: only the first section may be "Unreleased"')
    if top.name != "Unreleased" and not top.released:
        raise ValueError(f"CHANGELOG.md: {top.name} comes first, and has no date of release")
    if tag is not None:
        if tag != f"v{top.name}":
            raise ValueError(f'CHANGELOG.md: the first section is "{top.name}", the tag is {tag}')
        for section in older:
            if not section.released:
                raise ValueError(f"CHANGELOG.md: {section.name} has no date of release")
        if version(root) != top.name:
            raise ValueError(f"the tree is version {version(root)}, the tag is {tag}")


def main() -> None:
    try:
        check_changelog(ROOT, *sys.argv[1:2])
        print(version(ROOT))
    except ValueError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
