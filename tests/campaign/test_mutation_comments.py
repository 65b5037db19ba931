"""Comments that say why a mutant cannot be killed stand at lines with such mutants."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from torture.mutation import PROOFS, python
from torture.mutation.cpp import Rewriter, sources
from torture.mutation.explained import Explanations
from torture.mutation.sites import Mutant

ROOT = Path(__file__).parents[2]
CPP = """\
int count(const int* first, int n) {
  // untestable (< to <=): an empty
  // piece
  for (int i = 0; i < n; ++i) {
    if (first[i] < 3 && first[i] < n) {  // untestable (second < to >=): trailing
      return i + 1;
    }
    // untestable below (= 0 to = 1): the block
    for (int j = 0; j < n; ++j) {
#ifdef OTHER
      for (int k = 0; k < n; ++k) return j;
#endif
    }
  }
  for (int i = 0; i < n; ++i) {
  }
  // untestable: a statement
  return n == 2 || n == 3 ||
         n == 4;
}
"""
PYTHON = '''\
"""A module."""

import math


def count(values):
    """Return something."""
    # untestable below (1 to 2): the block
    for value in values:
        if value < 1:  # untestable: trailing
            return 1

    return -1


def other(values):
    return -1  # untestable (- removed): trailing
'''


def cpp_mutants(root: Path, folder: Path) -> list[Mutant]:
    rewriter = Rewriter(root, set())
    for path in sources(folder):
        rewriter.rewrite(path)
    return rewriter.mutants


def explained(root: Path, mutants: list[Mutant]) -> list[tuple[int, str, str | None]]:
    explanations = Explanations(root, mutants)
    return sorted(
        (mutant.line, mutant.change, why)
        for mutant in mutants
        if (why := explanations.of(mutant)) is not None
    )


@pytest.fixture(scope="module")
def all_explanations() -> Explanations:
    mutants = cpp_mutants(ROOT, ROOT / "native" / "core")
    for proof in PROOFS:
        mutants += python.mutate(ROOT, ROOT / "src" / "kleene" / proof, 1)[1]
    return Explanations(ROOT, mutants)


def test_all_explain_a_mutant(all_explanations: Explanations) -> None:
    assert all_explanations.unused() == []


def test_none_stands_where_no_mutant_is_made(all_explanations: Explanations) -> None:
    read = {(comment.file, comment.line) for comment in all_explanations.comments}
    suffixes = {".py", ".cpp", ".hpp", ".inl", ".cu", ".cuh"}
    written = {
        (str(path.relative_to(ROOT)), at)
        for folder in ("native", "src")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes
        for at, line in enumerate(path.read_text().split("\n"), 1)
        if "// untestable" in line or "# untestable" in line
    }
    assert written == read


def test_comments_of_cpp(tmp_path: Path) -> None:
    (tmp_path / "count.cpp").write_text(CPP)
    assert explained(tmp_path, cpp_mutants(tmp_path, tmp_path)) == [
        (4, "< to <=", "an empty piece"),
        (5, "< to >=", "trailing"),
        (9, "= 0 to = 1", "the block"),
        (11, "= 0 to = 1", "the block"),
        (18, "== to !=", "a statement"),
        (18, "== to !=", "a statement"),
        (18, "|| to &&", "a statement"),
        (18, "|| to &&", "a statement"),
        (19, "== to !=", "a statement"),
    ]


def test_comments_of_python(tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(PYTHON)
    assert explained(tmp_path, python.mutate(tmp_path, tmp_path / "count.py", 1)[1]) == [
        (10, "1 to 2", "the block"),
        (10, "< to <=", "trailing"),
        (10, "< to >=", "trailing"),
        (11, "1 to 2", "the block"),
        (13, "1 to 2", "the block"),
        (17, "- removed", "trailing"),
    ]


def test_an_ordinal_is_one_of_several(tmp_path: Path) -> None:
    (tmp_path / "count.cpp").write_text(CPP)
    mutants = cpp_mutants(tmp_path, tmp_path)
    explanations = Explanations(tmp_path, mutants)
    flipped = [one for one in mutants if one.line == 5 and one.change == "< to >="]
    assert [explanations.of(one) for one in flipped] == [None, "trailing"]


def test_what_explains_nothing_is_reported(tmp_path: Path) -> None:
    text = "int f(int n) {\n  return n + 1;  // untestable (- 1 to - 0, + 1 to + 0): why\n}\n"
    (tmp_path / "f.cpp").write_text(text)
    unused = Explanations(tmp_path, cpp_mutants(tmp_path, tmp_path)).unused()
    assert [one for one in unused if not one.startswith("kind")] == [
        "f.cpp:2: untestable: why (- 1 to - 0)"
    ]


def test_a_comment_without_a_reason_is_refused(tmp_path: Path) -> None:
    text = "int f(int n) {\n  return n + 1;  // untestable (+ 1 to + 0)\n}\n"
    (tmp_path / "f.cpp").write_text(text)
    with pytest.raises(ValueError, match=r"f\.cpp:2: not `untestable"):
        Explanations(tmp_path, cpp_mutants(tmp_path, tmp_path))
