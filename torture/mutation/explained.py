"""Why some mutants survive: comments at the lines that they change, and a few kinds of lines.

A mutant that computes the same, only slower or faster, cannot be killed. A comment says why::

    if (!(key < old)) return;  // untestable (< to <=): an equal key is in the same bucket

It stands behind the code, and is about that line; or above, about the statement that follows. In
parentheses are the changes that it is about; without them it is about all. ``second < to <=`` is
one of several on a line. ``untestable below`` is about all that follows in the block. Comments in
Python are the same, with a ``#``. What is true of many lines is in `KINDS` instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from torture.mutation.sites import Mutant

__all__ = ["KINDS", "Explanations"]

_COMMENT = re.compile(r"(?://|#) (untestable\b.*)")
_EXPLANATION = re.compile(r"untestable( below)?(?: \(([^)]*)\))?: (.*\S)")
_ORDINALS = ("first", "second", "third")


@dataclass(frozen=True)
class Kind:
    """A pattern in lines of a folder, and a change inside of it; "" for all changes."""

    folder: str
    pattern: str
    change: str
    why: str

    def __str__(self) -> str:
        return f"kind {self.pattern}: {self.why}"

    def explains(self, mutant: Mutant, line: str) -> bool:
        return (
            mutant.file.startswith(self.folder)
            and self.change in ("", mutant.change)
            and any(
                match.start() < mutant.column <= match.end()
                for match in re.finditer(self.pattern, line)
            )
        )


KINDS = (
    Kind("native/", r".*prefetch\w*\(.*", "", "a prefetch is a hint"),
    Kind(
        "native/",
        r"== 0\) (monitor_?\.poll|check_cancelled_?)\(\)",
        "== to !=",
        "how often a search looks for Ctrl-C: still in all rounds but some",
    ),
    Kind(
        "native/",
        r"if \(worker\.is_leader\(\)\) monitor_?\.advance\(",
        "if to if not",
        "how much progress is reported",
    ),
    Kind("native/", r"if \(level == ", "", "all levels of vector instructions compute the same"),
    Kind(
        "native/",
        r"const std::int64_t grain = .*|.*\bkEntriesPerPiece\b.*",
        "",
        "how work is cut into pieces for threads",
    ),
    Kind("native/", r"std::min<std::int64_t>\(threads, ", "min to max", "how many threads work"),
    Kind(
        "native/",
        r"\+ (\w+) - 1\) / \1\b",
        "- 1 to - 0",
        "rounded up: an empty piece at the end, where the pieces divide the whole",
    ),
    Kind("src/", r"\bcopy=False\b", "False to True", "a copy of the same values"),
    Kind("src/", r"\bstrict=True\b", "True to False", "the lists are equally long"),
    Kind("src/", r"\breshape\([^()]*(\([^()]*\))?[^()]*-1", "1 to 2", "any negative size is free"),
)


@dataclass(frozen=True)
class Comment:
    """An explanation, and the lines and the changes that it is about; "" for all changes."""

    file: str
    line: int
    about: range
    changes: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: untestable: {self.why}"


class Explanations:
    """Why some of all mutants of some files cannot be killed."""

    def __init__(self, root: Path, mutants: Iterable[Mutant]) -> None:
        self._why: dict[Mutant, str] = {}
        self._files: dict[str, _File] = {}
        self._used: set[tuple[Comment | Kind, str]] = set()
        alike: dict[tuple[str, int, str], list[Mutant]] = defaultdict(list)
        for mutant in sorted(mutants, key=lambda one: (one.column, one.number)):
            alike[mutant.file, mutant.line, mutant.change].append(mutant)
            if mutant.file not in self._files:
                self._files[mutant.file] = _File(root, mutant.file)
        for group in alike.values():
            for rank, mutant in enumerate(group):
                self._explain(mutant, _ORDINALS[rank : rank + 1])

    def _explain(self, mutant: Mutant, ordinal: tuple[str, ...]) -> None:
        file = self._files[mutant.file]
        names = ("", mutant.change, *(f"{one} {mutant.change}" for one in ordinal))
        for comment in file.comments:
            for name in names:
                if mutant.line in comment.about and name in comment.changes:
                    self._why.setdefault(mutant, comment.why)
                    self._used.add((comment, name))
        for kind in KINDS:
            if kind.explains(mutant, file.lines[mutant.line - 1]):
                self._why.setdefault(mutant, kind.why)
                self._used.add((kind, kind.change))

    @property
    def comments(self) -> list[Comment]:
        return [comment for file in self._files.values() for comment in file.comments]

    def of(self, mutant: Mutant) -> str | None:
        """Return why the mutant cannot be killed, None if it should be."""
        return self._why.get(mutant)

    def unused(self) -> list[str]:
        """Return the comments and kinds that explain no mutant, or none with a change they name."""
        stated: list[tuple[Comment | Kind, str]] = [(kind, kind.change) for kind in KINDS]
        stated += [(comment, change) for comment in self.comments for change in comment.changes]
        return [f"{one} ({change})" for one, change in stated if (one, change) not in self._used]


class _File:
    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.lines = (root / name).read_text().split("\n")
        self.mark = "# " if name.endswith(".py") else "//"
        self.ends = (":",) if name.endswith(".py") else (";", "{", "}", ":")  # of a statement
        self.comments = list(self.read())

    def read(self) -> Iterator[Comment]:
        """Yield the explanations; their places count from 0 here, and from 1 in what is yielded."""
        for at, line in enumerate(self.lines):
            if (match := _COMMENT.search(line)) is None:
                continue
            text, first, last = match[1], at, at
            if self.is_comment(at):
                first += 1
                while self.is_comment(first) and not _COMMENT.search(self.lines[first]):
                    text += " " + self.lines[first].strip(" /#")
                    first += 1
                while self.is_comment(first):
                    first += 1
                last = self.statement_end(first)
            if (found := _EXPLANATION.fullmatch(text)) is None:
                raise ValueError(f"{self.name}:{at + 1}: not `untestable (changes): why`: {text}")
            below, changes, why = found.groups()
            about = range(first + 1, (self.block_end(at) if below else last) + 2)
            yield Comment(self.name, at + 1, about, tuple((changes or "").split(", ")), why)

    def is_comment(self, at: int) -> bool:
        return self.lines[at].lstrip().startswith(self.mark)

    def indentation(self, at: int) -> int:
        return len(self.lines[at]) - len(self.lines[at].lstrip())

    def statement_end(self, first: int) -> int:
        """Return the last line of a statement, or of the head of a block."""
        last = first
        while self.indentation(last + 1) > self.indentation(first):
            if self.lines[last].split(f"  {self.mark}")[0].endswith(self.ends):
                break
            last += 1
        return last

    def block_end(self, at: int) -> int:
        """Return the last line of the block of a line; directives are part of it."""
        last = at
        for line in range(at + 1, len(self.lines)):
            text = self.lines[line]
            if text and self.indentation(line) < self.indentation(at) and text[0] != "#":
                break
            last = line
        return last
