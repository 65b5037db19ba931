"""The chart of the README: Kleene beside other libraries, from the records in this folder.

``python benchmarks/comparison_chart.py`` writes docs/_static/comparison.svg; a test compares the
file with the records. Each group is one experiment of the lab on one machine, all of its libraries
measured in one run on the same graph; times are medians of whole calls. The last lines name the
machines: groups of different machines are not compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from kleene_lab.experiments import EXPERIMENTS
from kleene_lab.harness.formatting import duration
from kleene_lab.harness.measurements import Measurements, measurements_in
from kleene_lab.harness.record import read
from kleene_lab.report.palette import DARK, LIGHT

HERE = Path(__file__).parent
CHART = HERE.parent / "docs/_static/comparison.svg"
XEON, EPYC = "xeon-2-cores.jsonl", "epyc-2-cores.jsonl"  # records

WIDTH, LEFT, RIGHT = 860, 138, 140  # pixels: all, names, numbers
ROW, HEAD, GAP = 21, 27, 14
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Group:
    """One point of one experiment: what is asked, and where it is in the record."""

    title: str
    experiment: str
    x: str
    panel: str = "lengths"
    ours: str = "Kleene, all cores"
    record: str = XEON
    needs: str = ""  # before the command

    @property
    def command(self) -> str:
        """What repeats the measurement."""
        return f"{self.needs} kleene lab run {self.experiment}".lstrip()


def _beside_gap(panel: str, x: str, arcs: str) -> Group:
    title = f"{panel.capitalize()}, {x}: {arcs} arcs"
    return Group(title, "peers-gap", x, panel, record=EPYC, needs="KLEENE_GAP=FOLDER")


GROUPS = (
    Group("Breadth-first search, Enron's mail: 367,662 arcs", "peers-bfs", "Enron"),
    Group("Shortest paths, R-MAT 18: 7.6 million arcs", "peers-sssp", "R-MAT 18"),
    Group("All pairs, streets of Rome: 3,353 vertices", "peers-apsp-sparse", "Rome"),
    Group("All pairs, dense: 512 vertices, float32", "peers-apsp-dense", "n = 512, float32"),
    Group(
        "nx.closeness_centrality, Facebook: 4,039 nodes", "dropin-networkx", "closeness, Facebook",
        panel="", ours='backend="kleene"',
    ),
    _beside_gap("breadth-first search", "R-MAT 20", "31 million"),
    _beside_gap("shortest paths", "R-MAT 20", "31 million"),
)  # fmt: skip


def results_of(group: Group) -> Measurements:
    """Return the measurements of its experiment."""
    [experiment] = [one for one in EXPERIMENTS if one.id == group.experiment]
    [results] = measurements_in(read(HERE / group.record), experiment)
    return results


def rows_of(group: Group) -> list[tuple[str, float]]:
    """Return names and seconds, the fastest peer first; on as many cores as Kleene's series."""
    results = results_of(group)
    x = results.experiment.x.labels.index(group.x)
    times = {
        point.series: results.time(point) for point in results.of(panel=group.panel) if point.x == x
    }
    ours, place = times.pop(group.ours), group.ours.removeprefix("Kleene")
    peers = {
        name.removesuffix(place): time
        for name, time in times.items()
        if not name.startswith("Kleene") and ("," not in name or name.endswith(place))
    }
    return [("Kleene", ours), *sorted(peers.items(), key=lambda item: item[1])]


def machines() -> tuple[str, str]:
    """Return the machines and the versions of the libraries, in two lines."""
    [ours, theirs] = [
        results_of(next(group for group in GROUPS if group.record == record)).run.machine
        for record in (XEON, EPYC)
    ]
    names = {"scipy": "SciPy", "networkx": "NetworkX", "igraph": "igraph",
             "networkit": "NetworKit", "python-graphblas": "GraphBLAS"}  # fmt: skip
    versions = ", ".join(f"{shown} {ours['versions'][key]}" for key, shown in names.items())
    return (
        f"Time of one call, logarithmic; {ours['cores']} cores of an Intel Xeon; {versions}",
        f"Beside the GAP Benchmark Suite: {theirs['cores']} cores of an {theirs['processor']}",
    )


def chart() -> str:
    """Return the picture as SVG; it follows the theme of the reader's system."""
    return "\n".join([*_svg(), ""])


def _svg() -> Iterator[str]:
    groups = [(group, rows_of(group)) for group in GROUPS]
    seconds = [time for _, rows in groups for _, time in rows]
    low, high = math.log10(min(seconds)), math.log10(max(seconds))

    def place(time: float) -> float:
        return LEFT + (math.log10(time) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    height = 78 + sum(HEAD + GAP + ROW * len(rows) for _, rows in groups)
    title = "Kleene beside other libraries: time of one call, logarithmic"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'width="{WIDTH}" height="{height}" font-family="{_FONT}" font-size="13">'
    )
    yield f"<title>{title}</title>"
    yield f"<style>{_style()}</style>"
    yield f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>'
    y = 16.0
    for group, rows in groups:
        y += HEAD
        title = escape(group.title)
        yield f'<text class="ink" x="20" y="{y - 7:g}" font-weight="600">{title}</text>'
        yield (
            f'<text class="faded" x="{WIDTH - 20}" y="{y - 7:g}" text-anchor="end" font-size="11" '
            f'font-family="monospace">{group.command}</text>'
        )
        for name, time in rows:
            yield from _row(name, time, rows[0][1], place, y)
            y += ROW
        y += GAP
    for y, text in zip((height - 36, height - 20), machines(), strict=True):
        yield f'<text class="faded" x="20" y="{y}" font-size="11">{text}</text>'
    yield "</svg>"


def _row(
    name: str, time: float, ours: float, place: Callable[[float], float], y: float
) -> Iterator[str]:
    kind = "ours" if name == "Kleene" else "peer"
    middle, end = y + ROW / 2, place(time)
    weight = ' font-weight="600"' if kind == "ours" else ""
    label = duration(time) if kind == "ours" else f"{duration(time)}, {_ratio(time / ours)}"
    yield f'<path class="rule" d="M{LEFT},{middle:g}H{end:.1f}"/>'
    yield f'<circle class="{kind}" cx="{end:.1f}" cy="{middle:g}" r="6"/>'
    baseline = middle + 4.5
    yield (
        f'<text class="ink" x="{LEFT - 12}" y="{baseline:g}" text-anchor="end"{weight}>'
        f"{escape(name)}</text>"
    )
    yield f'<text class="faded" x="{end + 12:.1f}" y="{baseline:g}"{weight}>{label}</text>'


def _ratio(ratio: float) -> str:
    return f"{ratio:.0f} &#215;" if ratio >= 9.95 else f"{ratio:.1f} &#215;"


def _style() -> str:
    def rules(colours: Mapping[str, str]) -> str:
        return (
            f".ground{{fill:{colours['ground']}}}.ink{{fill:{colours['ink']}}}"
            f".faded{{fill:{colours['faded']}}}.rule{{stroke:{colours['rule']};stroke-width:2}}"
            f".ours{{fill:{colours['s1']}}}.peer{{fill:{colours['s0']}}}"
        )

    dark = f"@media (prefers-color-scheme:dark){{{rules(DARK)}}}"
    return rules(LIGHT) + dark


if __name__ == "__main__":
    CHART.write_text(chart(), encoding="utf-8")
