"""Mutants of the C++ core, all in one build: each is a choice at run time.

The sources are formatted by clang-format, so that a binary operator has a space on both sides and
the bracket of a template never has: that tells the two apart. A comparison `a < b` becomes
`a < (mutants::Less{7}) > b`. The two operators have one precedence and associate to the left, so
that the operands are what they were, and need not be found. Logical operators need their operands:
`a && b` becomes `((a != c) && (b != c)) != c`, which is `a || b` where c is true (De Morgan).

Code that the compiler evaluates (constexpr, static_assert, template arguments, directives) is left
alone. What still does not compile is dropped by the build, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torture.mutation.sites import Mutant

__all__ = ["Rewriter", "sources"]

_TOKEN = re.compile(
    r"""
      (?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
    | (?P<string>R"\((?:.*?)\)"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+')
    | (?P<number>\.?\d(?:[\w.']|[eEpP][+-])*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<mark><=>|(?<=\s)>>(?=\s)|<<=|>>=|->|\+\+|--|&&|\|\||::|[-+*/%&|^=!<>]=|<<|\S)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_COMPARISONS = {
    "<": ("Less", ">", ("<=", ">=")),
    "<=": ("LessEqual", ">", ("<", ">")),
    ">": ("Greater", ">", (">=", "<=")),
    ">=": ("GreaterEqual", ">", (">", "<")),
    "==": ("Equal", "==", ("!=",)),
    "!=": ("NotEqual", "==", ("==",)),
}
_OPENING, _CLOSING = "([{", ")]}"
_STOPS = {";", ",", "?", ":", "=", "return", "case", "+=", "-=", "|=", "&=", "*=", "/=", "^="}
_CONSTANT = {
    "constexpr",
    "consteval",
    "static_assert",
    "enum",
    "alignas",
    "requires",
    "using",
    "typedef",
}


@dataclass(frozen=True)
class _Token:
    text: str
    kind: str
    begin: int
    end: int


class Rewriter:
    """Numbers mutants as it goes from file to file; `dropped` are lines to leave alone."""

    def __init__(self, root: Path, dropped: set[tuple[str, int]]) -> None:
        self.root, self.dropped = root, dropped
        self.mutants: list[Mutant] = []
        self.count = 0  # with those that were dropped: numbers do not change with them

    def rewrite(self, path: Path) -> str:
        """Return the text of a source with every mutant in it."""
        return _File(self, str(path.relative_to(self.root)), path.read_text()).rewritten()


class _File:
    def __init__(self, rewriter: Rewriter, name: str, text: str) -> None:
        self.rewriter, self.name, self.text = rewriter, name, text
        self.lines = text.split("\n")
        self.tokens = [
            _Token(match.group(), match.lastgroup or "", *match.span())
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "skip"
        ]
        self.partner = self.brackets()
        self.skipped = self.constant_tokens()
        self.edits: list[tuple[int, int, int, str]] = []  # begin, end, rank of an insertion, text

    def rewritten(self) -> str:
        for at, token in enumerate(self.tokens):
            if at not in self.skipped:
                self.visit(at, token)
        pieces, last = [], 0
        for begin, end, _, text in sorted(self.edits, key=lambda edit: edit[:3]):
            pieces += [self.text[last:begin], text]
            last = end
        return "".join([*pieces, self.text[last:]])

    # ---- structure ------------------------------------------------------------------------------

    def brackets(self) -> dict[int, int]:
        partner, open_ = {}, []
        for at, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in _OPENING:
                open_.append(at)
            elif token.kind == "mark" and token.text in _CLOSING:
                partner[at] = open_.pop()
                partner[partner[at]] = at
        return partner

    def constant_tokens(self) -> set[int]:
        """Return the tokens of what the compiler evaluates."""
        skipped: set[int] = set()
        at = 0
        while at < len(self.tokens):
            token, begin = self.tokens[at].text, at
            if token == "constexpr" and self.tokens[at - 1].text == "if":
                at = self.partner[at + 1]
            elif token == "template" and self.tokens[at + 1].text == "<":
                at = self.template_end(at + 1)
            elif token in _CONSTANT or token == "operator":
                at = self.declaration_end(at, token)
            skipped.update(range(begin, at + 1) if at > begin else ())
            at += 1
        return skipped

    def template_end(self, at: int) -> int:
        depth = 0
        while True:
            depth += {"<": 1, ">": -1}.get(self.tokens[at].text, 0)
            if depth == 0:
                return at
            at += 1

    def template_begin(self, at: int) -> int:
        depth = 0
        while True:
            depth += {">": 1, "<": -1}.get(self.tokens[at].text, 0)
            if depth == 0:
                return at
            at -= 1

    def declaration_end(self, at: int, token: str) -> int:
        """Return the last token of a constant, or of a constant function with its body."""
        while True:
            text = self.tokens[at].text
            if text == ";" or (token == "operator" and text == "("):
                return at
            if text in _OPENING:
                at = self.partner[at]
                if text == "{" and self.tokens[at + 1].text != ";":
                    return at
            at += 1

    def spaced(self, token: _Token) -> bool:
        return self.text[token.begin - 1].isspace() and self.text[token.end].isspace()

    # ---- mutants --------------------------------------------------------------------------------

    def number(self, token: _Token, change: str) -> int | None:
        """Return the number of a new mutant at the token; None on a dropped line."""
        line = self.text.count("\n", 0, token.begin) + 1
        self.rewriter.count += 1
        if (self.name, line) in self.rewriter.dropped:
            return None
        column = token.begin - self.text.rfind("\n", 0, token.begin)
        text, number = self.lines[line - 1].strip(), self.rewriter.count
        mutant = Mutant(number, self.name, line, column, text, change)
        self.rewriter.mutants.append(mutant)
        return number

    def visit(self, at: int, token: _Token) -> None:
        if token.kind == "mark" and token.text in _COMPARISONS and self.spaced(token):
            self.comparison(token)
        elif token.text in ("&&", "||") and self.spaced(token):
            self.logical(at, token)
        elif token.kind == "number" and re.fullmatch(r"\d+", token.text):
            self.bound(at, token)
        elif token.text in ("min", "max") and self.tokens[at - 1].text == "::":
            self.extremum(at, token)
        elif token.text in ("if", "while") and self.tokens[at + 1].text == "(":
            self.condition(at, token)

    def comparison(self, token: _Token) -> None:
        name, second, changes = _COMPARISONS[token.text]
        numbers = [self.number(token, f"{token.text} to {change}") for change in changes]
        if numbers[0] is not None:
            text = f"{token.text} (::mutants::{name}{{{numbers[0]}}}) {second}"
            self.edits.append((token.begin, token.end, 0, text))

    def logical(self, at: int, token: _Token) -> None:
        first, last = self.operands(at, token.text)
        number = self.number(token, f"{token.text} to {'||' if token.text == '&&' else '&&'}")
        if number is None:
            return
        chosen = f"::mutants::chosen({number})"
        begin, end = self.tokens[first].begin, self.tokens[last].end
        # Of two that begin, or end, at one place, the later operator is outside, or inside.
        self.edits.append((begin, begin, -at, "(((static_cast<bool>("))
        text = f") != {chosen}) {token.text} (static_cast<bool>("
        self.edits.append((token.begin, token.end, 0, text))
        self.edits.append((end, end, -at, f") != {chosen})) != {chosen})"))

    def operands(self, at: int, operator: str) -> tuple[int, int]:
        """Return the first and the last token of what a logical operator joins."""
        first = at - 1
        while True:
            text = self.tokens[first].text
            if text in _CLOSING:
                first = self.partner[first]
            elif text == ">" and not self.text[self.tokens[first].begin - 1].isspace():
                first = self.template_begin(first)
            elif text in _OPENING or text in _STOPS or (operator == "&&" and text == "||"):
                first += 1
                break
            first -= 1
        last = at + 1
        while True:
            text = self.tokens[last].text
            if text in _OPENING:
                last = self.partner[last]
            elif text in _CLOSING or text in _STOPS or text == "||" or text == operator:
                last -= 1
                break
            last += 1
        return first, last

    def bound(self, at: int, token: _Token) -> None:
        """`+ 1` and `- 1`, and where a loop begins."""
        before = self.tokens[at - 1]
        if self.initializes(at):
            return
        if before.text in ("+", "-") and self.spaced(before) and token.text == "1":
            changed = "0"
        elif before.text == "=" and token.text in ("0", "1") and self.begins_loop(at):
            changed = "1" if token.text == "0" else "0"
        else:
            return
        number = self.number(token, f"{before.text} {token.text} to {before.text} {changed}")
        if number is not None:
            text = f"(::mutants::chosen({number}) ? {changed} : {token.text})"
            self.edits.append((token.begin, token.end, 0, text))

    def initializes(self, at: int) -> bool:
        """Return whether the token is in braces, which take no wider or other sign than asked."""
        while self.tokens[at].text not in (";", "{", "}", "(", "["):
            at = self.partner[at] - 1 if self.tokens[at].text in ")]" else at - 1
        return self.tokens[at].text == "{" and self.tokens[at - 1].kind == "word"

    def begins_loop(self, at: int) -> bool:
        while self.tokens[at].text not in (";", "{", "}", "("):
            at -= 1
        return self.tokens[at].text == "(" and self.tokens[at - 1].text == "for"

    def extremum(self, at: int, token: _Token) -> None:
        """`std::min(` and `std::min<T>(`."""
        opening = at + 1
        if self.tokens[opening].text == "<":
            opening = self.template_end(opening) + 1
        if (
            self.tokens[opening].text != "("
            or self.tokens[at - 2].text != "std"
            or (self.tokens[opening + 1].text == "{")
        ):
            return
        number = self.number(token, f"{token.text} to {'max' if token.text == 'min' else 'min'}")
        if number is None:
            return
        begin = self.tokens[at - 2].begin
        self.edits.append((begin, token.end, 0, f"::mutants::{token.text}"))
        end = self.tokens[opening].end
        self.edits.append((end, end, -len(self.tokens), f"{number}, "))

    def condition(self, at: int, token: _Token) -> None:
        """One without operators that are mutated themselves, and without a declaration."""
        inside = self.tokens[at + 2 : self.partner[at + 1]]
        marks = {inner.text for inner in inside if inner.kind == "mark" and self.spaced(inner)}
        if marks & {*_COMPARISONS, "&&", "||", "="} or ";" in {inner.text for inner in inside}:
            return
        number = self.number(token, f"{token.text} to {token.text} not")
        if number is None:
            return
        begin, end = inside[0].begin, inside[-1].end
        text = f"::mutants::chosen({number}) != static_cast<bool>("
        self.edits.append((begin, begin, -len(self.tokens), text))
        self.edits.append((end, end, 1, ")"))


def sources(folder: Path) -> Iterator[Path]:
    """Yield the C++ files of a folder, in one order everywhere."""
    yield from sorted(path for path in folder.rglob("*") if path.suffix in (".cpp", ".hpp", ".inl"))
