"""Mutants of Python modules, all in one source: each is a conditional expression.

`a < b` becomes `(a <= b) if chosen(7) else (a < b)`. Only bodies of functions are changed, and no
message, annotation or default.
"""

from __future__ import annotations

import ast
import copy
from pathlib import Path

from torture.mutation.sites import Mutant

__all__ = ["mutate"]

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SWAPS = {"min": "max", "max": "min", "any": "all", "all": "any"}


def mutate(root: Path, path: Path, first: int) -> tuple[str, list[Mutant]]:
    """Return a module with its mutants in it, numbered from `first`, and the list of them."""
    text = path.read_text()
    mutator = _Mutator(str(path.relative_to(root)), text.split("\n"), first)
    tree = mutator.visit(ast.parse(text))
    at = next(
        at
        for at, node in enumerate(tree.body)
        if not isinstance(node, ast.Expr)
        and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    )
    tree.body.insert(at, ast.parse("from kleene_mutants import chosen as _chosen").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)), mutator.mutants


class _Mutator(ast.NodeTransformer):
    def __init__(self, file: str, lines: list[str], first: int) -> None:
        self.file, self.lines, self.first = file, lines, first
        self.mutants: list[Mutant] = []
        self.inside = 0  # functions

    def chosen(self, node: ast.AST, change: str) -> ast.expr:
        """Return the test for a new mutant."""
        line, column = node.lineno, node.col_offset + 1  # type: ignore[attr-defined]
        number = self.first + len(self.mutants)
        text = self.lines[line - 1].strip()
        self.mutants.append(Mutant(number, self.file, line, column, text, change))
        call = ast.Call(ast.Name("_chosen", ast.Load()), [ast.Constant(number)], [])
        return ast.copy_location(call, node)

    def choice(self, node: ast.expr, changed: list[tuple[str, ast.expr]]) -> ast.expr:
        """Return the node, itself visited, or one of its changed copies."""
        result: ast.expr = self.generic_visit(node)  # type: ignore[assignment]
        for change, other in changed:
            result = ast.IfExp(self.chosen(node, change), other, result)
        return result

    # ---- where ----------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside += 1
        body = node.body
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        kept = body[: 1 if documented else 0]
        node.body = kept + [self.visit(statement) for statement in body[len(kept) :]]
        self.inside -= 1
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # messages

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return node

    # ---- what -----------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if not self.inside or len(node.ops) != 1:
            return self.generic_visit(node)
        changed: list[tuple[str, ast.expr]] = []
        for other in _COMPARISONS[type(node.ops[0])]:
            copied = copy.deepcopy(node)
            copied.ops = [other()]
            changed.append((f"{_written(node.ops[0])} to {_written(other())}", copied))
        return self.choice(node, changed)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        other = _OPERATORS.get(type(node.op))
        if not self.inside or other is None or _textual(node):
            return self.generic_visit(node)
        copied = copy.deepcopy(node)
        copied.op = other()
        return self.choice(node, [(f"{_written(node.op)} to {_written(other())}", copied)])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        other = _OPERATORS.get(type(node.op))
        copied = copy.deepcopy(node)
        visited = self.generic_visit(node)
        if not self.inside or other is None or _textual(node.value):
            return visited
        copied.op = other()
        test = self.chosen(node, f"{_written(node.op)}= to {_written(other())}=")
        return ast.If(test, [copied], [visited])  # type: ignore[list-item]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if not self.inside:
            return node
        copied = copy.deepcopy(node)
        copied.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        change = "and to or" if isinstance(node.op, ast.And) else "or to and"
        return self.choice(node, [(change, copied)])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not self.inside or isinstance(node.op, ast.UAdd):
            return self.generic_visit(node)
        operand = copy.deepcopy(node.operand)
        return self.choice(node, [(f"{_written(node.op)} removed", operand)])

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not self.inside:
            return node
        if isinstance(node.value, bool):
            return self.choice(
                node, [(f"{node.value} to {not node.value}", ast.Constant(not node.value))]
            )
        if isinstance(node.value, int):
            more = node.value + 1
            return self.choice(node, [(f"{node.value} to {more}", ast.Constant(more))])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func
        called = name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")
        if not self.inside or called not in _SWAPS:
            return self.generic_visit(node)
        copied = copy.deepcopy(node)
        if isinstance(copied.func, ast.Name):
            copied.func.id = _SWAPS[called]
        else:
            copied.func.attr = _SWAPS[called]  # type: ignore[attr-defined]
        return self.choice(node, [(f"{called} to {_SWAPS[called]}", copied)])

    def visit_If(self, node: ast.If) -> ast.AST:
        plain = not isinstance(node.test, (ast.Compare, ast.BoolOp, ast.UnaryOp))
        negated = ast.UnaryOp(ast.Not(), copy.deepcopy(node.test))
        visited: ast.If = self.generic_visit(node)  # type: ignore[assignment]
        if self.inside and plain:
            test = self.chosen(node, "if to if not")
            visited.test = ast.IfExp(test, negated, visited.test)
        return visited

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        visited = self.generic_visit(node)
        if not self.inside or not isinstance(node.value, ast.Call):
            return visited
        return ast.If(self.chosen(node, "call removed"), [ast.Pass()], [visited])  # type: ignore[list-item]

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        visited = self.generic_visit(node)
        if not self.inside:
            return visited
        return ast.If(self.chosen(node, "raise removed"), [ast.Pass()], [visited])  # type: ignore[list-item]

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Assignments to parts of something that exists already can be removed."""
        visited = self.generic_visit(node)
        if not self.inside or not isinstance(node.targets[0], ast.Subscript):
            return visited
        return ast.If(self.chosen(node, "assignment removed"), [ast.Pass()], [visited])  # type: ignore[list-item]


def _written(operator: ast.cmpop | ast.operator | ast.unaryop) -> str:
    """Return an operator as it is written in a source."""
    x = ast.Name("x", ast.Load())
    node: ast.expr
    if isinstance(operator, ast.cmpop):
        node = ast.Compare(x, [operator], [x])
    elif isinstance(operator, ast.operator):
        node = ast.BinOp(x, operator, x)
    else:
        node = ast.UnaryOp(operator, x)
    return ast.unparse(node).strip("x ")


def _textual(node: ast.AST) -> bool:
    """Return whether an operator joins texts or types, as far as can be seen."""
    return any(
        isinstance(inner, ast.JoinedStr)
        or (isinstance(inner, ast.Constant) and isinstance(inner.value, str))
        for inner in ast.walk(node)
    )
