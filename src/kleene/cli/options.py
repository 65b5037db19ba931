"""Options, made from the signatures and docstrings of the calls.

A command that follows ``kleene.sssp`` has an option for each of its parameters: named as in Python,
of the type in the signature, with the first sentence about it in the docstring as help. An option
that is not given is not passed, so that defaults are those of the call. ``_KINDS`` says how a value
is typed where its type does not say it.

    @command("sssp")
    def sssp(graph: Input, *, call: Call, top: int | None = None, output: Output) -> None: ...

The parameters of a command are a graph, a call, groups of options, and what it takes itself. As in
Python, arguments come by position, and options have names. The docstring of the command, or of the
group, comes before that of the call: ``out : FILE, --picture`` gives the word that stands for the
value and a former name of the option, and the lines under it are the help. Calls are imported when
a command is made, which is when it runs or shows its help.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, get_type_hints

import typer
from typer import Argument, Option

from kleene.cli import completion
from kleene.cli.cluster import on_cluster
from kleene.cli.output import print_json
from kleene.cli.vertices import parse_vertices, read_pairs

if TYPE_CHECKING:
    from kleene import Graph, PreparedGraph

__all__ = ["Call", "Group", "Input", "Output", "command", "flat"]


# ---- how values are typed -----------------------------------------------------------------------


class Kind(NamedTuple):
    """How the value of a parameter is typed."""

    metavar: str | None = None
    names: tuple[str, ...] = ()  # others of the option
    help: str = ""  # where the docstring speaks of Python
    panel: str | None = None
    several: bool = False  # with commas between them, or by repeated options
    parse: Callable[[str], Any] | None = None
    complete: Callable[..., Any] | None = None
    off: str = ""  # the opposite of a flag
    least: int | None = None


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


_WORK, _PLACE = "How to compute", "Where to compute"
_MANY = "several with commas, by repetition, or a file with one on each line."
#: What the shell types for parameters whose type does not say it.
_KINDS = {
    "sources": Kind("VERTEX", ("--source", "-s"), f"The sources: {_MANY}"),
    "targets": Kind("VERTEX", ("--target", "-t"), f"The targets: {_MANY}"),
    "facilities": Kind("VERTEX", ("--facility", "-f"), f"The facilities: {_MANY}"),
    "source": Kind("SOURCE", help="The first vertex of the path."),
    "target": Kind("TARGET", ("-t",), "The last vertex of the path."),
    "pairs": Kind("FILE", help="A table of origins and destinations, two columns."),
    "limit": Kind("LENGTH"),
    "limits": Kind("LENGTH", ("--limit",), several=True, parse=_number),
    "hops": Kind(help="Count arcs instead of adding weights."),
    "longest": Kind("SIDE"),
    "k": Kind("K", ("-k",)),
    "samples": Kind("N", ("--sample",)),
    "error": Kind("E"),
    "confidence": Kind("P"),
    "seed": Kind("N", help="The random seed: the same one makes the same choice."),
    "bins": Kind(
        "N", (), "Bins 0, 1 ... N - 1 of a histogram, or their edges.", None, True, _number
    ),
    "edges": Kind(help="The edges instead of the vertices."),
    "exact": Kind(help="Count paths in whole numbers of any size."),
    "normalized": Kind(off="--raw", help="Parts of all pairs, or numbers of pairs."),
    "unreachable": Kind(
        "WHAT", (), "Of a graph in which some reach not all: error, or ignore those.",
        complete=completion.words("error", "ignore"),
    ),
    "semiring": Kind(
        "NAME", (), "boolean (is there a path?), min_plus (shortest), max_min (widest) or "
        "max_times (most reliable).", complete=completion.semirings,
    ),
    "title": Kind("TEXT"),
    "unit": Kind("TEXT"),
    "method": Kind(
        "NAME", (), "The method; see `kleene methods`.", _WORK, complete=completion.methods
    ),
    "device": Kind(
        "NAME", (), "The device: auto, cuda, cpu, emulated or reference; cuda:1 is one of "
        "several GPUs.", _WORK, complete=completion.devices,
    ),
    "devices": Kind(
        "LIST", (), "The GPUs that share the sources, such as 0,2 or cuda:0,cuda:2.", _WORK, True,
        _column,
    ),
    "dtype": Kind(
        "TYPE", panel=_WORK, complete=completion.words("int32", "int64", "float32", "float64")
    ),
    "threads": Kind(
        "N", help="How many threads may be used; all cores unless given.", panel=_WORK
    ),
    "deterministic": Kind(panel=_WORK),
    "options": Kind(
        "NAME=N", ("--option",), "A parameter of the method, such as block=48.", _WORK, True,
        _setting,
    ),
    "on": Kind(
        "ADDRESS", (), "Compute on a Dask cluster, by the address of its scheduler (tcp://...).",
        _PLACE,
    ),
    "workers": Kind(
        "N", (), "Compute in N processes of this machine, which share its cores.", _PLACE, least=1
    ),
    "weights": Kind(
        "LOW:HIGH", (), "A number, LOW:HIGH such as 1:255 or 0.0:1.0, or LOW:HIGH:TYPE.",
        parse=_weights,
    ),
    "directed": Kind(off="--undirected", help="Make arcs or undirected edges."),
    "weighted": Kind(off="--unweighted"),
    "format": Kind(complete=completion.formats),
    # What no call has: files, and what is printed.
    "out": Kind(
        "FILE", ("-o",), "Save the table: .csv, .tsv, .json or .parquet; - for standard output."
    ),
    "destination": Kind("OUT", help="The file to write; or give it by --out."),
    "to": Kind(
        "FORMAT", (), "The output format; by default, by suffix.", complete=completion.formats
    ),
    "top": Kind("N", help="List N rows.", least=0),
    "verify": Kind(help="Verify the result."),
    "missing": Kind(complete=completion.words("error", "ignore")),
    "problem": Kind("PROBLEM", complete=completion.problems),
    "measure": Kind("MEASURE", complete=completion.measures),
    "quiet": Kind(names=("-q",)),
    "experiments": Kind("ID", complete=completion.experiments),
    "suite": Kind("NAME", complete=completion.suites),
    "formats": Kind("NAME", ("--format",), complete=completion.words("svg", "png", "pdf")),
}  # fmt: skip
#: Lists of vertices, and the arguments that they may come as.
_VERTICES = {"sources": "source", "targets": "", "facilities": "facility"}
#: Parameters that commands pass on themselves, or that only programs need.
_PYTHON = {
    *("graph", "what", "path", "progress", "out", "keep", "on", "order", "demand", "origin"),
    *("destination", "volume", "positions", "row", "route", "kind"),
}
_SEPARATORS = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}

Docs = dict[str, tuple[str, str]]  # of a parameter: its type in words, and what is said of it


# ---- from a parameter to an option --------------------------------------------------------------


def _option(
    own: inspect.Parameter, doc: tuple[str, str], panel: str = "", of_call: bool = False
) -> inspect.Parameter:
    """Return an option, or an argument, as typer reads it from a signature.

    A flag of a call has an opposite, which the help leaves out where it is the default.
    """
    words = set(re.findall(r"\w+", str(own.annotation)))
    kind = _KINDS.get(own.name, Kind())
    said, text = doc
    parse = kind.parse or (_number if {"int", "float"} <= words else None)
    plain = next((each for each in (bool, int, float) if each.__name__ in words), str)
    kept: Any = str if parse is not None else plain
    several = kind.several or "list" in words or own.name in _VERTICES
    word = re.search(r"\b[A-Z][A-Z=]*\b", said)
    metavar = word[0] if word else kind.metavar or {int: "N", float: "X"}.get(kept, "TEXT")
    required = own.default is own.empty
    declared: Any
    if own.kind is own.POSITIONAL_OR_KEYWORD:
        declared = Argument(metavar=metavar, help=text, autocompletion=kind.complete)
    else:
        flag = f"--{own.name.replace('_', '-')}"
        names = (*kind.names, *re.findall(r"(?<!\S)--?[\w-]+", said))
        more: dict[str, Any] = {"metavar": metavar, "autocompletion": kind.complete}
        if kept is bool:
            shown = own.default is not False or bool(kind.off)
            off = kind.off or f"--no-{flag[2:]}"
            flag = f"{flag}/{off}" if shown or of_call else flag
            more = {"show_default": shown}
        if parse is not None and not several:
            more["parser"] = parse
        if kind.least is not None:
            more["min"] = kind.least
        help_text = text + _default(own.default)
        declared = Option(flag, *names, help=help_text, rich_help_panel=panel or kind.panel, **more)
    value: Any = list[str] if several else kept
    return inspect.Parameter(
        own.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[value if required else value | None, declared],
    )


def _default(default: Any) -> str:
    """Return a default value as written on the command line, for the help."""
    if default is None or default is False or default is inspect.Parameter.empty:
        return ""
    if isinstance(default, tuple):
        default = ":".join(map(str, default))
    return f"  [default: {'yes' if default is True else default}]"


def _options_of(calls: Sequence[str], omit: Sequence[str], own: Docs) -> Iterator[Any]:
    """Yield the options for the parameters of some calls; one that several have comes once."""
    import kleene

    functions = [attrgetter(call)(kleene) for call in calls]
    signatures = [inspect.signature(function).parameters for function in functions]
    known = {name for parameters in signatures for name in parameters}
    done = {*_PYTHON, *omit} | ({"source"} if "sources" in known else set())
    for function, parameters in zip(functions, signatures, strict=True):
        docs = _documented(function)
        for name, one in parameters.items():
            if name in done or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                continue
            done.add(name)
            argument = _VERTICES.get(name)
            if argument:  # a list of vertices may be arguments, too
                given = (argument.upper(), f"The {name}; or give them by --{name}.")
                yield _option(_made(argument, "list[str]", one.POSITIONAL_OR_KEYWORD), given)
            default = None if name in _VERTICES else one.default
            kind = one.KEYWORD_ONLY
            help_text = _first_sentence(docs.get(name, ("", ""))[1])
            said = own.get(name) or ("", _KINDS.get(name, Kind()).help or help_text)
            yield _option(_made(name, one.annotation, kind, default), said, of_call=True)
    if "on" in known - set(omit):
        for name, annotation in (("on", "str"), ("workers", "int")):
            said = ("", _KINDS[name].help)
            yield _option(_made(name, annotation, inspect.Parameter.KEYWORD_ONLY), said)


def _made(name: str, annotation: Any, kind: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _documented(function: Callable[..., Any]) -> Docs:
    """Return the type in words and the text of each parameter in a NumPy-style docstring."""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", inspect.getdoc(function) or "", re.S)
    found = re.findall(r"^(\w[^\n]*)\n((?:    [^\n]*\n?)+)", section[1] if section else "", re.M)
    docs: Docs = {}
    for head, body in found:
        names, _, said = head.partition(" : ")
        text = " ".join(body.split())
        docs |= {name.strip(): (said, text) for name in names.split(",")}
    return docs


def _first_sentence(text: str) -> str:
    """Return what is said first, as help: without markup, and in a line or two."""
    text = re.sub(r":\w+:`(\w+\.)*(\w+)`", r"\2", text.replace("``", ""))
    sentence = re.split(r"(?<=\.) (?=[A-Z])", text)[0]
    if len(sentence) > 90:  # what follows is detail
        sentence = re.split(r"[:;] ", sentence)[0].removesuffix(".") + "."
    sentence = re.sub(r"^Whether (to )?", "", sentence)
    return sentence[:1].upper() + sentence[1:]


# ---- a command ----------------------------------------------------------------------------------

Command = Callable[..., None]


def command(*calls: str, omit: str = "") -> Callable[[Command], Command]:
    """Mark a command as one that follows calls of ``kleene``.

    Parameters
    ----------
    *calls : str
        Their names; the command has an option for each of their parameters, as ``call: Call``.
    omit : str
        Parameters that it has no option for.
    """

    def mark(function: Command) -> Command:
        function.__dict__["follows"] = (calls, omit.split())
        return function

    return mark


def flat(function: Command) -> Command:
    """Return a command with one signature of single options, as typer needs it."""
    calls, omit = function.__dict__["follows"]
    hints, own = get_type_hints(function), _documented(function)
    groups = [
        name for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, Group)
    ]
    expanded: dict[str, list[inspect.Parameter]] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        group = hints[name]
        if group is Call:
            expanded[name] = list(_options_of(calls, omit, own))
            continue
        is_group = name in groups
        docs = {**_documented(group), **own} if is_group else own
        expanded[name] = [
            _option(
                one,
                docs.get(one.name, ("", _KINDS.get(one.name, Kind()).help)),
                group.panel if is_group else "",
            )
            for one in (inspect.signature(group).parameters.values() if is_group else [parameter])
        ]

    @wraps(function)
    def run(**typed: Any) -> None:
        given = {name: value for name, value in typed.items() if value is not None and value != []}
        for name in groups:
            options = {one.name: given.pop(one.name) for one in expanded[name] if one.name in given}
            given[name] = hints[name](**options)
        function(**given)

    run.__dict__.pop("__wrapped__")  # otherwise typer inspects the original
    parameters = [one for several in expanded.values() for one in several]
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__doc__ = re.split(r"\n\s*Parameters\n\s*---", function.__doc__ or "")[0]
    return run


# ---- what was typed -----------------------------------------------------------------------------


class Group:
    """Options that several commands have; its parameters, as those of a command."""

    panel: ClassVar[str] = ""


class Call(Group):
    """What was typed for the parameters of a call, by name."""

    def __init__(self, **typed: Any) -> None:
        self._place = typed.pop("on", None), typed.pop("workers", None)
        for name, argument in _VERTICES.items():
            if argument in typed:
                typed[name] = [*typed.pop(argument), *typed.get(name, ())]
        self.given: dict[str, Any] = {name: _parsed(name, one) for name, one in typed.items()}

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


@dataclass
class Input(Group):
    """The input graph, and how to read it.

    Parameters
    ----------
    file : GRAPH
        A graph file, a .kp, or - for standard input.
    format : NAME
        The file format; detected by default.
    directed : bool
        Read lines as arcs, or as undirected edges.
    oneway : COLUMN
        The column that says whether a line is an arc: yes, no, or -1 (reversed).
    weighted : bool
        Require weights, or ignore them.
    weight : NAME
        The column or attribute with the weights.
    columns : NAMES
        Source, target and perhaps weight: from,to,km (names, or numbers from 0).
    separator : CHARACTER
        Between columns; a character, or tab or space.
    header : bool
        The first line names the columns, or not; detected by default.
    through : bool
        Whether paths may pass the zones of a TNTP network.
    null_value : NUMBER
        What means 'no arc' in a matrix: 0 in an adjacency matrix, inf if 0 is an arc.
    layer : NAME
        The layer of streets of a GeoPackage, if it has several.
    snap : LENGTH
        Join ends of streets that are so close: metres of longitude and latitude.
    positions : FILE
        Coordinates of the vertices: .co, or a table of id, x and y.
    unlabelled : bool
        Vertices are numbers from 0 by position, in arguments and output.
    """

    panel = "Reading the graph"

    file: str
    _: KW_ONLY
    format: str | None = None
    directed: bool | None = None
    oneway: str | None = None
    weighted: bool | None = None
    weight: str | None = None
    columns: list[str] | None = None
    separator: str | None = None
    header: bool | None = None
    through: bool | None = None
    null_value: float | None = None
    layer: str | None = None
    snap: float | None = None
    positions: str | None = None
    unlabelled: bool = False

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
                raise RequestError("--oneway is for edge lists, Parquet and maps") from None
        return graph.unlabelled() if self.unlabelled else graph, format

    def reader_options(self) -> dict[str, Any]:
        """Return the options of the reader that were given."""
        from kleene.errors import RequestError

        if self.oneway is not None and self.directed is not None:
            raise RequestError("--oneway says for each line what --directed says for all; give one")
        own = ("file", "format", "unlabelled", "oneway")
        given = {n: value for n, value in vars(self).items() if value is not None and n not in own}
        if self.oneway is not None:
            given["directed"] = self.oneway
        if "columns" in given:  # one list with commas, or several options: names with commas
            names = given["columns"]
            names = [name.strip() for name in names[0].split(",")] if len(names) == 1 else names
            given["columns"] = [_column(name) for name in names]
        if "separator" in given:
            given["separator"] = _SEPARATORS.get(given["separator"], given["separator"])
        return given


@dataclass(frozen=True, kw_only=True)
class Output(Group):
    """The output of a command.

    Parameters
    ----------
    json : bool
        Print the result as JSON.
    quiet : bool
        Print nothing; set only the exit code and write files.
    """

    panel = "Output"

    json: bool = False
    quiet: bool = False

    def show(self, document: dict[str, Any], page: Callable[[], None]) -> None:
        """Print the document as JSON, or as text by ``page``, or nothing."""
        if self.quiet:
            return
        if self.json:
            print_json(document)
        else:
            page()
