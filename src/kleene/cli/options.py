"""Option groups that several commands use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kleene.cli import completion

if TYPE_CHECKING:
    from kleene import Graph, PreparedGraph

__all__ = [
    "Device",
    "Dtype",
    "Hops",
    "Input",
    "Limit",
    "Method",
    "Output",
    "Predecessors",
    "Reverse",
    "Threads",
]

_FILE, _WORK, _OUTPUT = "Reading the graph", "How to compute", "Output"

Predecessors = Annotated[
    bool | None,
    Option("--predecessors/--no-predecessors", help="Compute predecessors, or distances only."),
]
Threads = Annotated[
    int | None,
    Option(
        "--threads",
        metavar="N",
        help="Threads to use; all cores by default.",
        rich_help_panel=_WORK,
    ),
]
Device = Annotated[
    str,
    Option(
        "--device",
        metavar="NAME",
        help="The device: auto, cuda, cpu, emulated or reference; cuda:1 is one of several GPUs.",
        autocompletion=completion.devices,
        rich_help_panel=_WORK,
    ),
]
Dtype = Annotated[
    str | None,
    Option(
        "--dtype",
        metavar="TYPE",
        help="The type of distances: int32, int64, float32 or float64.",
        autocompletion=completion.dtypes,
        rich_help_panel=_WORK,
    ),
]
Limit = Annotated[
    float | None, Option("--limit", metavar="LENGTH", help="Stop the search at this distance.")
]
Hops = Annotated[bool, Option("--hops", help="Count arcs instead of weights.")]
Reverse = Annotated[
    bool, Option("--reverse", help="Distances to the named vertices, not from them.")
]

_SEPARATORS = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


@dataclass(frozen=True)
class Input:
    """The input graph."""

    file: Annotated[
        str, Argument(metavar="GRAPH", help="A graph file, a .kp, or - for standard input.")
    ]
    format: Annotated[
        str | None,
        Option(
            "--format",
            metavar="NAME",
            help="The file format; detected by default.",
            autocompletion=completion.formats,
            rich_help_panel=_FILE,
        ),
    ] = None
    directed: Annotated[
        bool | None,
        Option(
            "--directed/--undirected",
            help="Read lines as arcs, or as undirected edges.",
            rich_help_panel=_FILE,
        ),
    ] = None
    oneway: Annotated[
        str | None,
        Option(
            "--oneway",
            metavar="COLUMN",
            help="The column that says whether a line is an arc: yes, no, or -1 (reversed).",
            rich_help_panel=_FILE,
        ),
    ] = None
    weighted: Annotated[
        bool | None,
        Option(
            "--weighted/--unweighted",
            help="Require weights, or ignore them.",
            rich_help_panel=_FILE,
        ),
    ] = None
    weight: Annotated[
        str | None,
        Option(
            "--weight",
            metavar="NAME",
            help="The column or attribute with the weights.",
            rich_help_panel=_FILE,
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        Option(
            "--columns",
            metavar="NAMES",
            help="Source, target and perhaps weight: from,to,km (names, or numbers from 0).",
            rich_help_panel=_FILE,
        ),
    ] = None
    separator: Annotated[
        str | None,
        Option(
            "--separator",
            metavar="CHARACTER",
            help="Between columns; a character, or tab or space.",
            rich_help_panel=_FILE,
        ),
    ] = None
    header: Annotated[
        bool | None,
        Option(
            "--header/--no-header",
            help="The first line names the columns, or not; detected by default.",
            rich_help_panel=_FILE,
        ),
    ] = None
    through: Annotated[
        bool | None,
        Option(
            "--through/--no-through",
            help="Whether paths may pass the zones of a TNTP network.",
            rich_help_panel=_FILE,
        ),
    ] = None
    null_value: Annotated[
        float | None,
        Option(
            "--null-value",
            metavar="NUMBER",
            help="What means 'no arc' in a matrix: 0 in an adjacency matrix, inf if 0 is an arc.",
            rich_help_panel=_FILE,
        ),
    ] = None
    positions: Annotated[
        str | None,
        Option(
            "--positions",
            metavar="FILE",
            help="Coordinates of the vertices: .co, or a table of id, x and y.",
            rich_help_panel=_FILE,
        ),
    ] = None
    unlabelled: Annotated[
        bool,
        Option(
            "--unlabelled",
            help="Vertices are numbers from 0 by position, in arguments and output.",
            rich_help_panel=_FILE,
        ),
    ] = False

    def read(self, threads: int | None = None) -> Graph:
        """Read the graph, with a progress bar at a terminal."""
        graph, _ = self.read_with_format(threads)
        return graph

    def open(self, threads: int | None = None) -> tuple[Graph, Graph | PreparedGraph]:
        """Read the graph; return it and what answers calls: itself, or the prepared graph."""
        if self.is_prepared:
            prepared = self.load(threads)
            return prepared.graph, prepared
        graph = self.read(threads)
        return graph, graph

    def load(self, threads: int | None = None) -> PreparedGraph:
        """Load the prepared graph."""
        from kleene import load_prepared

        read_otherwise = self.format is not None or self.unlabelled or bool(self.reader_options())
        return load_prepared(self.file, self.read(threads) if read_otherwise else None)

    @property
    def is_prepared(self) -> bool:
        """Whether the file is one of a prepared graph, by its name."""
        from kleene.prepared.files import SUFFIX

        return self.file.lower().endswith(SUFFIX)

    def read_with_format(self, threads: int | None = None) -> tuple[Graph, str]:
        """Read the graph; return it and the name of its format."""
        from kleene import io
        from kleene.errors import RequestError
        from kleene.system.progress import reporter

        with reporter(True, f"reading {self.file}") as report:
            try:
                graph, format = io.read_with_format(
                    self.file, self.format, threads=threads, progress=report,
                    **self.reader_options(),
                )  # fmt: skip
            except RequestError as error:
                if self.oneway is None or error.option != "directed":
                    raise
                raise RequestError("--oneway is for edge lists and Parquet") from None
        return graph.unlabelled() if self.unlabelled else graph, format

    def reader_options(self) -> dict[str, Any]:
        """Return the options of the reader that were given."""
        from kleene.errors import RequestError

        if self.oneway is not None and self.directed is not None:
            raise RequestError("--oneway says for each line what --directed says for all; give one")
        given = {
            "directed": self.directed if self.oneway is None else self.oneway,
            "weighted": self.weighted,
            "weight": self.weight,
            "columns": _columns(self.columns),
            "separator": self.separator and _SEPARATORS.get(self.separator, self.separator),
            "header": self.header,
            "through": self.through,
            "null_value": self.null_value,
            "positions": self.positions,
        }
        return {name: value for name, value in given.items() if value is not None}


def _columns(given: list[str] | None) -> list[str | int] | None:
    """Return columns from one list with commas, or from several options (names with commas)."""
    if not given:
        return None
    names = [name.strip() for name in given[0].split(",")] if len(given) == 1 else given
    return [int(name) if name.isdecimal() else name for name in names]


@dataclass(frozen=True)
class Output:
    """The output of a command."""

    json: Annotated[
        bool, Option("--json", help="Print the result as JSON.", rich_help_panel=_OUTPUT)
    ] = False
    quiet: Annotated[
        bool,
        Option(
            "--quiet",
            "-q",
            help="Print nothing; set only the exit code and write files.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False

    def show(self, document: dict[str, Any], page: Callable[[], None]) -> None:
        """Print the document as JSON, or as text by ``page``, or nothing."""
        from kleene.cli.output import print_json

        if self.quiet:
            return
        if self.json:
            print_json(document)
        else:
            page()


@dataclass(frozen=True)
class Method:
    """The method and device."""

    method: Annotated[
        str,
        Option(
            "--method",
            metavar="NAME",
            help="The method; see `kleene methods`.",
            autocompletion=completion.methods,
            rich_help_panel=_WORK,
        ),
    ] = "auto"
    device: Device = "auto"
    devices: Annotated[
        str | None,
        Option(
            "--devices",
            metavar="LIST",
            help="The GPUs that share the sources, such as 0,2 or cuda:0,cuda:2.",
            rich_help_panel=_WORK,
        ),
    ] = None
    dtype: Dtype = None
    threads: Threads = None
    deterministic: Annotated[
        bool,
        Option(
            "--deterministic",
            help="Return the same predecessors in every run.",
            rich_help_panel=_WORK,
        ),
    ] = False

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of the call."""
        names = None if self.devices is None else [n.strip() for n in self.devices.split(",")]
        listed = None
        if names is not None:
            listed = [int(name) if name.isascii() and name.isdecimal() else name for name in names]
        found = {**asdict(self), "devices": listed}
        return {name: value for name, value in found.items() if name != "devices" or value}
