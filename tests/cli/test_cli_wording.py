"""Messages of the library on the command line: options, not keywords of Python."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import typer

import kleene as kl
from kleene.cli.errors import _WORDS, in_options, use_options
from kleene.cli.main import app
from kleene.errors import Code, Text

PROGRAM: Any = typer.main.get_command(app)
COMMANDS = {name: PROGRAM.get_command(None, name) for name in PROGRAM.list_commands(None)}


@pytest.mark.parametrize(
    ("command", "library", "expected"),
    [
        ("apsp", Text(Code("sources=[...]"), " for some rows"), "--sources VERTEX for some rows"),
        ("apsp", Text("or ", Code("out='d.npy'"), " to keep"), "or --out d.npy to keep"),
        ("sssp", Text("use ", Code('device="cpu"'), "."), "use --device cpu."),
        ("sssp", Code("dtype='float64'"), "--dtype float64"),
        (
            "sssp",
            Text(Code("predecessors=False"), "; ", Code("limit=")),
            "--no-predecessors; --limit",
        ),
        ("sssp", Text(Code("limit"), " must be a number"), "--limit must be a number"),
        ("within", Code("limit=math.inf"), "--limit inf"),
        ("sssp", Text(Code("predecessors=True"), " has"), "--predecessors has"),
        (
            "info",
            Text(Code("directed=False"), ", ", Code("weighted=True")),
            "--undirected, --weighted",
        ),
        ("info", Code('format="edge_list"'), "--format edge_list"),
        ("info", Text("pass ", Code("null_value=0")), "pass --null-value 0"),
        ("sssp", Code("reverse=True"), "--reverse"),
        ("convert", Text("use ", Code("graph.symmetrise()"), " or"), "use --undirected or"),
        ("info", Code("method='tiled'"), "method='tiled'"),  # info has no such option
        ("sssp", "limit=3: a text of a file, or limit=", "limit=3: a text of a file, or limit="),
    ],
)
def test_keywords_become_the_options_of_the_command(
    command: str, library: str, expected: str
) -> None:
    assert in_options(library, COMMANDS[command]) == expected


def advised(command: str) -> str:
    rows = Text(Code("sources=[...]"), " for some of the rows")
    advice = (rows, Code("out='d.npy'"), Code("predecessors=False"))
    error = kl.MemoryBudgetError("needs 3 GiB", advice=advice)
    use_options(error, COMMANDS[command])
    return str(error)


def test_memory_advice_names_what_the_command_has() -> None:
    assert advised("apsp") == (
        "needs 3 GiB; what makes it fit: --sources VERTEX for some of the rows, or --out d.npy, or "
        "--no-predecessors"
    )
    assert advised("path") == "needs 3 GiB; what makes it fit: --out d.npy"
    assert advised("info") == "needs 3 GiB"
    advice = (Text("pass ", Code("relabel=False")), "wait")
    error = kl.MemoryBudgetError("needs 3 GiB, has 1", advice=advice, lead="; ")
    use_options(error, COMMANDS["info"])
    assert str(error) == "needs 3 GiB, has 1; wait"


def test_memory_advice_in_python_and_by_pickle() -> None:
    error = kl.MemoryBudgetError("needs 3 GiB", advice=[Code("predecessors=False")])
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "needs 3 GiB; what makes it fit: predecessors=False"
    assert copy.advice == (("predecessors", "predecessors=False"),)


def test_memory_advice_is_possible() -> None:
    """Types that would not hold the paths are not advised."""
    from kleene.planning.ask import Ask
    from kleene.planning.facts import Facts
    from kleene.planning.plan import make_plan
    from kleene.system.machine import Machine

    small = Machine(cores=1, memory=2**20, simd="none")
    for kind, bound, narrower in (
        ("float64", 1e6, "dtype='float32'"),
        ("int64", 10**6, "dtype='int32'"),
        ("int64", 10**12, None),
        ("int32", 10**6, None),
    ):
        facts = Facts(10**6, 10**6, kind, 1, 9, bound)
        with pytest.raises(kl.MemoryBudgetError) as failed:
            make_plan(facts, Ask.of("apsp"), small)
        advised = [text for option, text in failed.value.advice if option == "dtype"]
        assert advised == ([narrower] if narrower else [])


def test_what_only_python_can_do_is_left_out() -> None:
    cycle = kl.NegativeCycleError([1, 2])
    use_options(cycle, COMMANDS["sssp"])
    assert str(cycle).endswith("have no lower bound")
    other = ValueError("limit=3")
    use_options(other, COMMANDS["sssp"])
    assert other.args == ("limit=3",)


#: Keywords in messages that no command passes on: of calls that exist in Python only.
PYTHON_ONLY = {"argmin", "keep", "keep_rows", "order", "relabel", "volume"}
SOURCES = [
    file
    for file in sorted(Path(kl.__file__).parent.rglob("*.py"))
    if file.relative_to(Path(kl.__file__).parent).parts[0] not in ("cli", "interop")
]


def children(command: Any) -> list[Any]:
    """Return the commands of a group, but for generators, whose options are their own."""
    group = hasattr(command, "list_commands") and command.name != "generate"
    names = command.list_commands(None) if group else ()
    return [command.get_command(None, name) for name in names]


OPTIONS = {
    name.removeprefix("--").replace("-", "_")
    for command in COMMANDS.values()
    for each in (command, *children(command))
    for option in each.params
    for name in option.opts
}


def text_of(node: ast.AST) -> str:
    """Return a text of the source, with {} for what is computed."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "{}"


def codes() -> set[str]:
    """Return the code that messages of the library name."""
    return {
        text_of(node.args[0])
        for file in SOURCES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Code" and node.args
    }


def test_every_keyword_in_a_message_is_an_option_somewhere() -> None:
    found = {name for code in codes() if "=" in code and (name := Code(code).name)}
    assert len(found) > 10
    assert found <= OPTIONS | PYTHON_ONLY


def plain_messages() -> list[tuple[str, str]]:
    """Return (where, text) of the texts of errors, without code."""
    return [
        (f"{file.name}:{node.lineno}", text_of(text))
        for file in SOURCES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Error", "Text", "fail"))
        for text in node.args
    ]


def test_keywords_that_are_options_are_marked_as_code() -> None:
    """Else the command line would show a keyword that it does not know."""
    assert len(plain_messages()) > 500
    for where, text in plain_messages():
        outside = text  # of calls, which are Python's
        while outside != (outside := re.sub(r"[\w}]\([^()]*\)", "", outside)):
            pass
        for name in re.findall(r"(?<![\w.])([a-z_]+)=", outside):
            assert name not in OPTIONS, f"{where} names {name}= in a plain text: {text}"


def test_other_words_are_for_code_that_the_library_names() -> None:
    assert set(_WORDS) <= codes()
