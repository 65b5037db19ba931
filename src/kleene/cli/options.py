"""Options, made from the signatures and docstrings of the calls.

A command that follows ``kleene.sssp`` has an option for each of its parameters: named as in Python,
of the type in the signature, with the first sentence about it in the docstring as help. An option
that is not given is not passed, so that defaults are those of the call. ``_KINDS`` says how a value
is typed where its type does not say it.

    @command("sssp", top="List the N nearest targets.")
    def sssp(*, graph: Input, call: Call, top: Top = None, output: Output) -> None: ...

The parameters of a command are a graph, a call, groups of options (frozen dataclasses whose fields
are options of typer) and single options. :func:`flat` makes one signature of them. Calls are
imported when a command is made, which is when it runs or shows its help.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer
from typer import Argument, Option

from kleene.cli import completion
from kleene.cli.vertices import parse_vertices, read_pairs

if TYPE_CHECKING:
    from kleene import Graph, PreparedGraph

__all__ = [
    "Call",
    "Hops",
    "Input",
    "Kind",
    "Output",
    "RouteFile",
    "Source",
    "TableFile",
    "Target",
    "Threads",
    "Top",
    "Verify",
    "command",
    "flat",
    "parameter_docs",
]

_FILE, _WORK, _PLACE, _OUTPUT = (
    "Reading the graph", "How to compute", "Where to compute", "Output",
)  # fmt: skip


# ---- how values are typed -----------------------------------------------------------------------


class Kind(NamedTuple):
    """How the value of a parameter is typed."""

    metavar: str | None = None
    flags: tuple[str, ...] = ()  # other names of the option
    help: str = ""  # where the docstring speaks of Python
    panel: str | None = None
    several: bool = False  # with commas between them, or by repeated options
    parse: Callable[[str], Any] | None = None
    complete: Callable[..., Any] | None = None
    off: str = ""  # the opposite of a flag
    type: type = str


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


def _weights(text: str) -> Any:
    low, *rest = text.split(":")
    if not rest:
        return _number(low)
    if len(rest) > 2:
        raise typer.BadParameter(f"{text!r} is not LOW:HIGH or LOW:HIGH:TYPE")
    return (_number(low), _number(rest[0]), *rest[1:])


def _setting(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not (name and equals and number.isdecimal()):
        raise typer.BadParameter(f"{text!r} is not NAME=N, such as block=48")
    return name, int(number)


def _column(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() else text


_MANY = "several with commas, by repetition, or a file with one on each line."
#: What the shell types for parameters whose type does not say it.
_KINDS = {
    "sources": Kind("VERTEX", ("--source", "-s"), f"The sources: {_MANY}"),
    "targets": Kind("VERTEX", ("--target", "-t"), f"The targets: {_MANY}"),
    "facilities": Kind("VERTEX", ("--facility", "-f"), f"The facilities: {_MANY}"),
    "pairs": Kind("FILE", help="A table of origins and destinations, two columns."),
    "limit": Kind("LENGTH"),
    "limits": Kind("LENGTH", ("--limit",), several=True, parse=_number),
    "longest": Kind("SIDE"),
    "k": Kind("K", ("-k",)),
    "error": Kind("E"),
    "confidence": Kind("P"),
    "samples": Kind("N", ("--sample",)),
    "seed": Kind("N", help="The random seed: the same one makes the same choice."),
    "bins": Kind(
        "N", several=True, parse=_number, help="Bins 0, 1 ... N - 1 of a histogram, or their edges."
    ),
    "edges": Kind(help="The edges instead of the vertices."),
    "exact": Kind(help="Count paths in whole numbers of any size."),
    "normalized": Kind(off="--raw", help="Parts of all pairs, or numbers of pairs."),
    "unreachable": Kind(
        "WHAT", help="Of a graph in which some reach not all: error, or ignore those.",
        complete=completion.unreachable,
    ),
    "semiring": Kind(
        "NAME", help="boolean (is there a path?), min_plus (shortest), max_min (widest) or "
        "max_times (most reliable).", complete=completion.semirings,
    ),
    "title": Kind("TEXT"),
    "unit": Kind("TEXT"),
    "method": Kind(
        "NAME", help="The method; see `kleene methods`.", panel=_WORK, complete=completion.methods
    ),
    "device": Kind(
        "NAME", help="The device: auto, cuda, cpu, emulated or reference; cuda:1 is one of "
        "several GPUs.", panel=_WORK, complete=completion.devices,
    ),
    "devices": Kind(
        "LIST", help="The GPUs that share the sources, such as 0,2 or cuda:0,cuda:2.",
        panel=_WORK, several=True, parse=_column,
    ),
    "dtype": Kind("TYPE", panel=_WORK, complete=completion.dtypes),
    "threads": Kind("N", panel=_WORK),
    "deterministic": Kind(panel=_WORK),
    "options": Kind(
        "NAME=N", ("--option",), "A parameter of the method, such as block=48.", _WORK, True,
        _setting,
    ),
    "weights": Kind(
        "LOW:HIGH", help="A number, LOW:HIGH such as 1:255 or 0.0:1.0, or LOW:HIGH:TYPE.",
        parse=_weights,
    ),
    "directed": Kind(off="--undirected", help="Make arcs or undirected edges."),
}  # fmt: skip
#: Lists of vertices, and the arguments that they may come as.
_VERTICES = {"sources": "source", "targets": "", "facilities": "facility"}
#: Parameters that commands pass on themselves, or that only programs need.
_PYTHON = {
    *("graph", "what", "path", "progress", "out", "keep", "on", "order", "demand", "origin"),
    *("destination", "volume", "positions", "row", "route", "kind"),
}
#: How a graph is read: the options of the readers.
_READING = {
    "format": Kind("NAME", help="The file format; detected by default.",
                   complete=completion.formats),
    "directed": Kind(off="--undirected", help="Read lines as arcs, or as undirected edges."),
    "oneway": Kind(
        "COLUMN", help="The column that says whether a line is an arc: yes, no, or -1 (reversed)."
    ),
    "weighted": Kind(off="--unweighted", help="Require weights, or ignore them."),
    "weight": Kind("NAME", help="The column or attribute with the weights."),
    "columns": Kind(
        "NAMES", several=True,
        help="Source, target and perhaps weight: from,to,km (names, or numbers from 0).",
    ),
    "separator": Kind("CHARACTER", help="Between columns; a character, or tab or space."),
    "header": Kind(
        off="--no-header", help="The first line names the columns, or not; detected by default."
    ),
    "through": Kind(
        off="--no-through", help="Whether paths may pass the zones of a TNTP network."
    ),
    "null_value": Kind(
        "NUMBER", type=float,
        help="What means 'no arc' in a matrix: 0 in an adjacency matrix, inf if 0 is an arc.",
    ),
    "positions": Kind(
        "FILE", help="Coordinates of the vertices: .co, or a table of id, x and y."
    ),
}  # fmt: skip
_SEPARATORS = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


# ---- from a parameter to an option --------------------------------------------------------------


def _option(name: str, kind: Kind, help: str, required: bool = False) -> inspect.Parameter:
    """Return an option for a parameter, as typer reads it from a signature."""
    flag = f"--{name.replace('_', '-')}"
    option: Any
    if kind.type is bool:
        flags = [f"{flag}/{kind.off}" if kind.off else flag, *kind.flags]
        option = Option(*flags, help=help, rich_help_panel=kind.panel)
    else:
        parser = None if kind.several else kind.parse
        option = Option(
            flag, *kind.flags, help=help, metavar=kind.metavar, parser=parser,
            rich_help_panel=kind.panel, autocompletion=kind.complete,
        )  # fmt: skip
    several = kind.several or name in _VERTICES
    value: Any = list[str] if several else kind.type
    return _parameter(name, Annotated[value if required else value | None, option], required)


def _parameter(name: str, annotation: Any, required: bool = False) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=annotation,
    )


def _options_of(calls: Sequence[str], omit: Sequence[str]) -> Iterator[inspect.Parameter]:
    """Yield the options for the parameters of some calls; one that several have comes once."""
    import kleene

    functions = [attrgetter(call)(kleene) for call in calls]
    signatures = [inspect.signature(function).parameters for function in functions]
    known = {name for parameters in signatures for name in parameters}
    done = {*_PYTHON, *omit} | ({"source"} if "sources" in known else set())
    for function, parameters in zip(functions, signatures, strict=True):
        docs = parameter_docs(function)
        for name, own in parameters.items():
            if name not in done and own.kind not in (own.VAR_POSITIONAL, own.VAR_KEYWORD):
                done.add(name)
                yield from _from_signature(own, docs.get(name, ""))
    if "on" in known and "on" not in omit:
        address = "Compute on a Dask cluster, by the address of its scheduler (tcp://...)."
        yield _option("on", Kind("ADDRESS", panel=_PLACE), address)
        processes = "Compute in N processes of this machine, which share its cores."
        option = Option("--workers", metavar="N", min=1, help=processes, rich_help_panel=_PLACE)
        yield _parameter("workers", Annotated[int | None, option])


def _from_signature(own: inspect.Parameter, doc: str) -> Iterator[inspect.Parameter]:
    """Yield the option of a parameter; a list of vertices may be an argument, too."""
    words = set(re.findall(r"\w+", str(own.annotation)))
    kind = _KINDS.get(own.name, Kind())
    if kind.parse is None and {"int", "float"} <= words:
        kind = kind._replace(metavar=kind.metavar or "NUMBER", parse=_number)
    elif kind.parse is None:
        plain = next((each for each in (bool, int, float) if each.__name__ in words), str)
        metavar = {int: "N", float: "X", str: "TEXT"}.get(plain)
        kind = kind._replace(type=plain, metavar=kind.metavar or metavar)
    if kind.type is bool and own.default is not False:
        kind = kind._replace(off=kind.off or f"--no-{own.name.replace('_', '-')}")
    argument = _VERTICES.get(own.name)
    if argument:
        given = f"The {own.name}; or give them by --{own.name}."
        text = Argument(metavar=argument.upper(), help=given)
        yield _parameter(argument, Annotated[list[str] | None, text])
    required = own.default is own.empty and own.name not in _VERTICES
    yield _option(own.name, kind, (kind.help or doc) + _default(own.default), required)


def _default(default: Any) -> str:
    """Return a default value as written on the command line, for the help."""
    if default is None or default is False or default is inspect.Parameter.empty:
        return ""
    if isinstance(default, tuple):
        default = ":".join(map(str, default))
    return f"  [default: {'yes' if default is True else default}]"


def parameter_docs(function: Callable[..., Any]) -> dict[str, str]:
    """Return what a NumPy-style docstring says of each parameter first, in a line or two."""
    doc = inspect.getdoc(function) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", doc, re.DOTALL)
    docs: dict[str, str] = {}
    for head, body in re.findall(
        r"^(\w[^\n]*)\n((?:    [^\n]*\n?)+)", section[1] if section else "", re.MULTILINE
    ):
        text = re.sub(r":\w+:`(\w+\.)*(\w+)`", r"\2", " ".join(body.split()).replace("``", ""))
        sentence = re.split(r"(?<=\.) (?=[A-Z])", text)[0]
        if len(sentence) > 90:  # what follows is detail
            sentence = re.split(r"[:;] ", sentence)[0].removesuffix(".") + "."
        sentence = re.sub(r"^Whether (to )?", "", sentence)
        for name in head.partition(" : ")[0].split(","):
            docs[name.strip()] = sentence[:1].upper() + sentence[1:]
    return docs


# ---- a command ----------------------------------------------------------------------------------

Command = Callable[..., None]


def command(*calls: str, omit: str = "", **help: str) -> Callable[[Command], Command]:
    """Mark a command as one that follows calls of ``kleene``.

    Parameters
    ----------
    *calls : str
        Their names; the command has an option for each of their parameters, as ``call: Call``.
    omit : str
        Parameters that it has no option for.
    **help : str
        Help of options that means something else here.
    """

    def mark(function: Command) -> Command:
        function.__dict__["follows"] = (calls, omit.split(), help)
        return function

    return mark


def flat(function: Command) -> Command:
    """Return a command with one signature of single options, as typer needs it."""
    calls, omit, help = function.__dict__["follows"]
    hints = get_type_hints(function, include_extras=True)
    expanded = {
        name: (
            list(_options_of(calls, omit)) if hints[name] is Call else _expanded(hints[name], own)
        )
        for name, own in inspect.signature(function).parameters.items()
    }
    groups = {name for name in expanded if inspect.isclass(hints[name])}

    @wraps(function)
    def run(**typed: Any) -> None:
        given = {
            name: hints[name](**{one.name: typed.pop(one.name) for one in expanded[name]})
            for name in groups
        }
        function(**given, **typed)

    run.__dict__.pop("__wrapped__")  # otherwise typer inspects the original
    parameters = [_with_help(one, help) for several in expanded.values() for one in several]
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _expanded(kind: Any, own: inspect.Parameter) -> list[inspect.Parameter]:
    """Return the options of a group, or a single option."""
    if kind is Input:
        return Input.parameters()
    if not is_dataclass(kind):
        return [own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)]
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def _with_help(parameter: inspect.Parameter, help: dict[str, str]) -> inspect.Parameter:
    """Return an option with the help that the command has for it."""
    if parameter.name not in help:
        return parameter
    value, option = parameter.annotation.__origin__, copy(parameter.annotation.__metadata__[0])
    default = re.search(r"  \[default: .*", option.help or "")
    option.help = help[parameter.name] + (default[0] if default else "")
    return parameter.replace(annotation=Annotated[value, option])


# ---- what was typed -----------------------------------------------------------------------------


class Call:
    """What was typed for the parameters of a call, by name."""

    def __init__(self, **typed: Any) -> None:
        self._place = typed.pop("on", None), typed.pop("workers", None)
        for name, argument in _VERTICES.items():
            if argument in typed and name in typed:
                typed[name] = [*(typed.pop(argument) or ()), *(typed[name] or ())]
        self.given: dict[str, Any] = {
            name: _parsed(name, value)
            for name, value in typed.items()
            if value is not None and value != []
        }

    @property
    def threads(self) -> int | None:
        """How many threads may be used, also to read the graph."""
        threads: int | None = self.given.get("threads")
        return threads

    @property
    def here(self) -> bool:
        """Whether this process computes, and no cluster."""
        return self._place == (None, None)

    @property
    def place(self) -> dict[str, Any]:
        """The cluster that was asked for, as a keyword."""
        return {} if self.here else {"on": self._place}

    def keywords(self, graph: Graph) -> dict[str, Any]:
        """Return the keywords of the call, with vertices of the graph."""
        from kleene.errors import RequestError

        found = dict(self.given)
        for name in _VERTICES.keys() & found.keys():
            found[name] = parse_vertices(graph, found[name])
        if "pairs" in found:
            if found.keys() & _VERTICES.keys():
                raise RequestError("--pairs gives both ends; omit sources and targets")
            found["pairs"] = read_pairs(graph, found["pairs"])
        return found

    def run(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Call a function, on the cluster that was asked for."""
        from kleene.cli.cluster import on_cluster

        with on_cluster(*self._place) as on:
            return function(*arguments, **keywords, **on)


def _parsed(name: str, value: Any) -> Any:
    """Return the values of an option that takes several, with commas or repeated."""
    from kleene.errors import RequestError

    kind = _KINDS.get(name, Kind())
    if not kind.several or kind.parse is None:
        return value
    try:
        found = [kind.parse(word.strip()) for text in value for word in text.split(",")]
    except typer.BadParameter as error:
        raise RequestError(f"--{name}: {error.message}") from None
    if name == "options":
        return dict(found)
    return found[0] if name == "bins" and len(found) == 1 else found


class Input:
    """The input graph, and how to read it."""

    def __init__(self, file: str, unlabelled: bool, **reading: Any) -> None:
        self.file, self.unlabelled = file, unlabelled
        self._given = {name: value for name, value in reading.items() if value not in (None, [])}
        self.format: str | None = self._given.pop("format", None)

    @staticmethod
    def parameters() -> list[inspect.Parameter]:
        """Return the argument and the options."""
        what = Argument(metavar="GRAPH", help="A graph file, a .kp, or - for standard input.")
        by_position = Option(
            "--unlabelled",
            help="Vertices are numbers from 0 by position, in arguments and output.",
            rich_help_panel=_FILE,
        )
        return [
            _parameter("file", Annotated[str, what], required=True),
            *(
                _option(name, kind._replace(type=bool if kind.off else kind.type, panel=_FILE),
                        kind.help)
                for name, kind in _READING.items()
            ),
            _parameter("unlabelled", Annotated[bool, by_position]).replace(default=False),
        ]  # fmt: skip

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

        read_otherwise = self.format is not None or self.unlabelled or bool(self._given)
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
                if "oneway" not in self._given or error.option != "directed":
                    raise
                raise RequestError("--oneway is for edge lists and Parquet") from None
        return graph.unlabelled() if self.unlabelled else graph, format

    def reader_options(self) -> dict[str, Any]:
        """Return the options of the reader that were given."""
        from kleene.errors import RequestError

        given = dict(self._given)
        if "oneway" in given and "directed" in given:
            raise RequestError("--oneway says for each line what --directed says for all; give one")
        if "oneway" in given:
            given["directed"] = given.pop("oneway")
        if "columns" in given:  # one list with commas, or several options: names with commas
            names = given["columns"]
            names = [name.strip() for name in names[0].split(",")] if len(names) == 1 else names
            given["columns"] = [_column(name) for name in names]
        if "separator" in given:
            given["separator"] = _SEPARATORS.get(given["separator"], given["separator"])
        return given


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


# ---- options of several commands, which no call has ---------------------------------------------

Top = Annotated[int | None, Option("--top", metavar="N", min=0, help="List N rows.")]
Verify = Annotated[bool, Option("--verify", help="Verify the result.")]
Hops = Annotated[bool, Option("--hops", help="Count arcs instead of weights.")]
Threads = Annotated[
    int | None,
    Option(
        "--threads",
        metavar="N",
        help="How many threads may be used; all cores unless given.",
        rich_help_panel=_WORK,
    ),
]
TableFile = Annotated[
    str | None,
    Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Save the table: .csv, .tsv, .json or .parquet; - for standard output.",
    ),
]
RouteFile = Annotated[
    str | None,
    Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Save as GeoJSON, for a map: .geojson or .json; - for a table on standard output.",
    ),
]
Source = Annotated[str, Argument(metavar="SOURCE", help="The first vertex of the path.")]
Target = Annotated[str, Argument(metavar="TARGET", help="The last vertex of the path.")]
