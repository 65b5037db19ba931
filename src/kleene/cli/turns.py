"""``--turns``: forbidden and delayed turns, from a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kleene.cli.vertex_files import read_table
from kleene.cli.vertices import parse_vertex

if TYPE_CHECKING:
    from kleene import Graph, Result

__all__ = ["Turns"]


@dataclass(frozen=True)
class Turns:
    """Turns that are forbidden or take time."""

    turns: Annotated[
        str | None,
        Option(
            "--turns",
            metavar="FILE",
            help="A table of turns: from, via, to, and a delay unless they are forbidden.",
        ),
    ] = None
    u_turns: Annotated[
        str | None,
        Option("--u-turns", metavar="DELAY", help="The delay of u-turns, or `forbidden`."),
    ] = None

    missing: Annotated[
        str,
        Option(
            "--missing", metavar="WHAT", help="Turns that are not in the graph: error or ignore."
        ),
    ] = "error"

    def search(self, graph: Graph, problem: str) -> Callable[..., Result] | None:
        """Return the call that solves the problem with turns; None without turns."""
        import kleene as kl

        if self.turns is None and self.u_turns is None:
            return None
        table = None if self.turns is None else _read_turns(graph, self.turns)
        missing: Any = self.missing
        turns = kl.TurnGraph(graph, table, u_turns=_delay(self.u_turns), missing=missing)
        call: Callable[..., Result] = getattr(turns, problem)
        return call


def _delay(text: str | None) -> Any:
    from kleene.errors import RequestError

    if text is None or text == "forbidden":
        return text
    try:
        return float(text)
    except ValueError:
        raise RequestError(f"--u-turns takes a delay or `forbidden`, not {text!r}") from None


def _read_turns(graph: Graph, path: str) -> dict[str, list[Any]]:
    """Return the columns of a table of turns; without a header they are from, via, to, delay."""

    def delay(text: str) -> float | None:
        return float(text) if text else None

    def vertex(text: str) -> Any:
        return parse_vertex(graph, text)

    return read_table(
        path,
        dict.fromkeys(("from", "via", "to"), vertex),
        {"delay": delay, "from_row": int, "to_row": int},
    )
