"""Write docs/trust.md: the text of trust_template.md, with tables from the parts and the record."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torture.campaign import Part
from torture.parts import BY_HAND, PARTS
from torture.record import load

__all__ = ["PAGE", "page"]

TEMPLATE = Path(__file__).parent / "trust_template.md"
PAGE = Path(__file__).parent.parent / "docs/trust.md"


def page(record: dict[str, Any]) -> str:
    """Return the page for a record."""
    text = TEMPLATE.read_text()
    parts = (*PARTS, *BY_HAND)
    tables = {
        "{{ promises }}": _promises(parts),
        "{{ numbers }}": _numbers(parts, record),
        "{{ failures }}": _failures(parts, record),
    }
    for name, table in tables.items():
        text = text.replace(name, table)
    return text


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _promises(parts: tuple[Part, ...]) -> str:
    rows = ((f"`{part.name}`", part.promise, part.how) for part in parts)
    return _table(("part", "promise", "how it is tested"), rows)


def _numbers(parts: tuple[Part, ...], record: dict[str, Any]) -> str:
    head = ("part", "cases", "failures", "took", "date", "machine", "more")
    return _table(head, (_row(part, record.get(part.name)) for part in parts))


def _row(part: Part, run: dict[str, Any] | None) -> tuple[str, ...]:
    if run is None:
        return (f"`{part.name}`", "not recorded yet", "", "", "", "", "")
    return (
        f"`{part.name}`",
        f"{run['cases']:,}",
        f"{len(run['failures']):,}",
        _duration(run["seconds"]),
        run["date"],
        f"{run['cpus']} cores, {run['machine']}, Python {run['python']}",
        _escaped("; ".join(f"{name}: {value}" for name, value in run["facts"].items())),
    )


def _duration(seconds: float) -> str:
    if not seconds:
        return ""
    minutes = seconds / 60
    return f"{minutes / 60:.1f} h" if minutes >= 90 else f"{max(1, round(minutes))} min"


def _failures(parts: tuple[Part, ...], record: dict[str, Any]) -> str:
    found = [
        f"- `{part.name}`: {_escaped(failure)}"
        for part in parts
        for failure in record.get(part.name, {}).get("failures", ())
    ]
    return "\n".join(["What failed:", "", *found]) if found else "Nothing failed in these runs."


def _escaped(text: str) -> str:
    """Return text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def main() -> None:
    """Write the page for the committed record."""
    PAGE.write_text(page(load()))


if __name__ == "__main__":
    main()
