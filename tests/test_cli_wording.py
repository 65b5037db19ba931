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
from kleene.cli.main import app
from kleene.cli.wording import in_options, use_options, without_calls
from kleene.errors import Code, Text

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("command", "library", "expected"),
    [
        ("apsp", "sources=[...] for some of the rows", "--source VERTEX for some of the rows"),
        ("apsp", "or out='d.npy' to keep", "or --out d.npy to keep"),
        ("sssp", 'use device="cpu".', "use --device cpu."),
        ("sssp", "pass dtype='float64', or", "pass --dtype float64, or"),
        ("sssp", "predecessors=False; limit= needs", "--no-predecessors; --limit needs"),
        ("sssp", "predecessors=True has", "--predecessors has"),
        ("info", "directed=False, weighted=True", "--undirected, --weighted"),
        ("info", 'pass format="edge_list".', "pass --format edge_list."),
        ("sssp", "reverse=True", "--reverse"),
        ("convert", "write graph.symmetrise() or use", "add --undirected or use"),
        ("info", "method='tiled'", "method='tiled'"),  # info has no such option
        ("sssp", "kron.npz: rmat(scale=12, seed=1)", "kron.npz: rmat(scale=12, seed=1)"),
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
        "needs 3 GiB; what makes it fit: --source VERTEX for some of the rows, or --out d.npy, or "
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


#: Keywords in messages that no command passes on: of calls that exist in Python only.
PYTHON_ONLY = {
    "arcs", "argmin", "batch", "connect", "copy", "form", "keep", "keep_rows", "metric", "n", "ptr",
    "relabel", "route", "rows", "undirected", "volume", "weights", "xy",
}  # fmt: skip


def messages() -> list[tuple[str, str]]:
    """Return (where, text) of every message that names a keyword, below the command line."""
    root = Path(kl.__file__).parent
    found = []
    for file in sorted(root.rglob("*.py")):
        if file.relative_to(root).parts[0] in ("cli", "lab", "interop"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.Raise, ast.Call)) and "Error" in ast.unparse(node)[:80]:
                strings = (c.value for c in ast.walk(node) if isinstance(c, ast.Constant))
                text = " ".join(s for s in strings if isinstance(s, str))
                if re.search(r"\b[a-z_]+=", text):
                    found.append((f"{file.name}:{node.lineno}", text))
    return found


def test_every_keyword_in_a_message_is_an_option_somewhere() -> None:
    singular = {"sources": "source", "targets": "target", "facilities": "facility"}
    options = {p.name for command in COMMANDS.values() for p in getattr(command, "params", ())}
    assert len(messages()) > 10
    for where, text in messages():
        for name in re.findall(r"\b([a-z_]+)=", text):
            known = {name, singular.get(name, name)}
            assert known & (options | PYTHON_ONLY), f"{where} names {name}=, which is no option"


def test_what_only_python_can_do_is_left_out() -> None:
    from kleene.cli.wording import _CALLS

    assert without_calls("renumber them, as kleene.Graph.from_table does") == "renumber them"
    sources = "".join(f.read_text() for f in Path(kl.__file__).parent.rglob("*.py"))
    for call in _CALLS:  # as long as the library says so
        words = call.strip("; (),")
        assert sources.count(words.split()[-1]) > 1, call
