"""The version of a tree, wherever the tree comes from, and the headings of the CHANGELOG."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from importlib.metadata import version as installed_version
from pathlib import Path
from types import ModuleType

import pytest

import kleene as kl

ROOT = Path(__file__).parents[2]
FILES = ("CHANGELOG.md", ".git_archival.txt", ".gitattributes")
needs_sources = pytest.mark.skipif(not (ROOT / "release").exists(), reason="needs the source tree")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

UNRELEASED = "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.3 (2026-01-31)\n\n- old\n"
READY = UNRELEASED.replace("Unreleased", "1.3.0 (2026-02-28)")


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vft", ROOT / "release/version_from_tag.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "CHANGELOG.md").write_text(UNRELEASED)
    return root


def git(root: Path, *arguments: str) -> str:
    who = {
        f"GIT_{role}_{what}": "a@b"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    run = subprocess.run(
        ["git", *arguments],
        cwd=root,
        env={**os.environ, **who, **settings},
        check=True,
        capture_output=True,
        text=True,
    )
    return run.stdout.strip()


def commit(root: Path) -> str:
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--allow-empty", "--message=.")
    return git(root, "rev-parse", "--short=9", "HEAD")


def test_the_package_says_its_installed_version():
    assert kl.__version__ == installed_version("kleene")
    assert "__version__" in dir(kl)


@needs_sources
@needs_git
def test_a_repository_has_the_version_of_its_tag(module, tree, tmp_path):
    git(tree, "init", "--quiet")
    first = commit(tree)
    assert module.version(tree) == f"1.2.4.dev0+g{first}"  # no tag: the CHANGELOG
    git(tree, "tag", "v1.3.0")
    assert module.version(tree) == "1.3.0"
    (tree / "CHANGELOG.md").write_text(READY)
    assert module.version(tree) == "1.3.1.dev0+dirty"
    last = commit(tree)
    git(tree, "tag", "another-tag")
    assert module.version(tree) == f"1.3.1.dev1+g{last}"
    git(tree, "tag", "v1.4.0rc1")
    assert module.version(tree) == "1.4.0rc1"
    commit(tree)
    assert module.version(tree).startswith("1.4.0rc2.dev1+g")

    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-tags", f"file://{tree}", str(shallow))
    assert module.version(shallow).startswith("1.3.1.dev0+g")  # 1.3.0 is the CHANGELOG's last

    inside = tree / "vendored"
    inside.mkdir()
    (inside / "CHANGELOG.md").write_text(UNRELEASED)
    assert module.version(inside) == "1.2.4.dev0+unknown"


@needs_sources
@needs_git
@pytest.mark.parametrize("tagged", [False, True])
def test_an_archive_of_git_knows_its_version(module, tree, tmp_path, tagged):
    for name in FILES[1:]:
        shutil.copy(ROOT / name, tree / name)
    git(tree, "init", "--quiet")
    short = commit(tree)
    if tagged:
        git(tree, "tag", "v1.3.0")
    git(tree, "archive", "--format=zip", f"--output={tmp_path / 'tree.zip'}", "HEAD")
    shutil.unpack_archive(tmp_path / "tree.zip", tmp_path / "unpacked")
    found = module.version(tmp_path / "unpacked")
    if tagged:
        assert found == "1.3.0"
    else:
        base, commit_of_it = found.split("+g")
        assert base == "1.2.4.dev0"
        assert short.startswith(commit_of_it)


@needs_sources
def test_a_plain_copy_goes_by_the_changelog(module, tree):
    assert module.version(tree) == "1.2.4.dev0+unknown"
    shutil.copy(ROOT / ".git_archival.txt", tree)  # as in a checkout: nothing filled in
    assert module.version(tree) == "1.2.4.dev0+unknown"
    (tree / "CHANGELOG.md").write_text(READY)
    assert module.version(tree) == "1.3.0"
    (tree / "CHANGELOG.md").write_text("## Unreleased\n\n## 0.1.0 (unreleased)\n")
    assert module.version(tree) == "0.1.0.dev0+unknown"
    (tree / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: kleene\nVersion: 7.0.0\n")
    assert module.version(tree) == "7.0.0"


@needs_sources
def test_the_changelog_is_in_order(module):
    module.check_changelog()


@needs_sources
def test_a_changelog_that_does_not_fit_the_tag_is_refused(module, tree):
    log = tree / "CHANGELOG.md"
    module.check_changelog(tree)
    with pytest.raises(ValueError, match=r'the first section is "Unreleased", the tag is v1.3.0'):
        module.check_changelog(tree, "v1.3.0")
    log.write_text(READY)
    module.check_changelog(tree, "v1.3.0")
    with pytest.raises(ValueError, match=r"the tag is v1.2.3"):
        module.check_changelog(tree, "v1.2.3")
    (tree / "PKG-INFO").write_text("Version: 1.3.0.dev4\n")
    with pytest.raises(ValueError, match=r"the tree is version 1.3.0.dev4"):
        module.check_changelog(tree, "v1.3.0")
    for text, message in {
        "## 1.3.0 (soon)\n": "1.3.0 comes first, and has no date",
        READY + "## Unreleased\n": "only the first section",
        "## next\n": "neither",
        "# Changelog\n": "no sections",
    }.items():
        log.write_text(text)
        with pytest.raises(ValueError, match=message):
            module.check_changelog(tree)
    log.write_text(READY + "## 0.1.0 (unreleased)\n")
    with pytest.raises(ValueError, match=r"0.1.0 has no date"):
        module.check_changelog(tree, "v1.3.0")
