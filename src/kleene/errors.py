"""Every error that Kleene raises on purpose.

``KleeneError`` is at the root, so ``except kleene.KleeneError`` catches them all; where Python has
a fitting built-in class, the error is one of those too.

An error has fields: its problem, the option at fault, and advice. Texts know which of their words
are code, such as keywords of the call, so a surface that has other words for them, such as the
command line, replaces those and never searches a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = [
    "ClusterError",
    "Code",
    "DeviceError",
    "FormatError",
    "GraphError",
    "GraphWarning",
    "KernelError",
    "KleeneError",
    "MemoryBudgetError",
    "NegativeCycleError",
    "PathOverflowError",
    "RequestError",
    "StorageError",
    "StoreError",
    "Text",
    "VerificationError",
    "in_words_of",
    "message_of",
    "reworded",
]


class Code(str):
    """Code of Python in a message: a keyword as ``limit``, ``limit=`` or ``limit=3``, or a call."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the keyword; empty for other code."""
        name = self.partition("=")[0]
        return name if name.isidentifier() else ""

    @property
    def value(self) -> str:
        """The value of the keyword, as Python writes it; empty without one."""
        return self.partition("=")[2]


class Text(str):
    """A text that knows its parts, some of which are :class:`Code`.

    >>> text = Text("pass ", Code("limit=3"), " or less")
    >>> text, text.parts
    ('pass limit=3 or less', ('pass ', 'limit=3', ' or less'))
    >>> text.reworded(lambda code: f"--{code.name} {code.value}")
    'pass --limit 3 or less'
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Text:
        flat = [one for part in parts for one in getattr(part, "parts", (part,))]
        text = super().__new__(cls, "".join(map(str, flat)))
        text.parts = tuple(flat)
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.parts

    @classmethod
    def joined(cls, between: str, texts: Iterable[str]) -> Text:
        """Return several texts as one."""
        parts = [part for text in texts for part in (between, text)]
        return cls(*parts[1:])

    @property
    def codes(self) -> tuple[Code, ...]:
        """The parts that are code."""
        return tuple(part for part in self.parts if isinstance(part, Code))

    @property
    def option(self) -> str | None:
        """The name of the first keyword."""
        return next((code.name for code in self.codes if code.name), None)

    def reworded(self, spell: Callable[[Code], str | None]) -> Text:
        """Return the text with other words for its code; code without any (None) stays."""
        words = [(part, spell(part) if isinstance(part, Code) else None) for part in self.parts]
        return Text(*(part if word is None else word for part, word in words))


class KleeneError(Exception):
    """Root of all errors that Kleene raises on purpose.

    Attributes
    ----------
    problem : str
        What is wrong.
    option : str or None
        The keyword of the call that the problem is about, such as ``"limit"``, if it is about one.
    advice : tuple of (str or None, str)
        What to do about it: the keyword that helps, if it is one, and a text, each a way.
    """

    def __init__(
        self,
        *problem: str,
        option: str | None = None,
        advice: Iterable[str] = (),
        lead: str = "; ",
    ) -> None:
        self.problem, self._lead = Text(*problem), lead
        self.advice = tuple((text.option, text) for text in map(Text, advice))
        self.option = option or self.problem.option
        super().__init__(str(message_of(self)))

    def __reduce__(self) -> str | tuple[Any, ...]:
        # Stated, since tblib, which Dask installs, makes errors anew that have an __init__ only.
        return type(self), self.args, self.__dict__


def message_of(error: Exception) -> Text:
    """Return the message of an error, which knows its code if the error is Kleene's."""
    if not isinstance(error, KleeneError):
        return Text(str(error))
    return _message(error, error.problem, [text for _, text in error.advice])


def reworded(error: KleeneError, spell: Callable[[Code], str | None]) -> Text:
    """Return the message of an error in the words of a surface, which has none for some code.

    ``spell`` returns None for it. Such code stays in the problem; advice that needs it is left out.
    """
    possible = [
        text.reworded(spell)
        for _, text in error.advice
        if not any(spell(code) is None for code in text.codes)
    ]
    return _message(error, error.problem.reworded(spell), possible)


def _message(error: KleeneError, problem: Text, advice: Sequence[Text]) -> Text:
    return Text(problem, error._lead, Text.joined(", or ", advice)) if advice else problem


class GraphError(KleeneError, ValueError):
    """The input is not a valid graph, or the graph does not support the call."""


class PathOverflowError(GraphError, OverflowError):
    """Path lengths may exceed the safe range of the widest type; nothing was computed."""


class FormatError(KleeneError, ValueError):
    """A file is not what its format requires; the message starts with ``file:line:``.

    Attributes
    ----------
    line : int or None
        The line, from 1, if the error is about one.
    """

    line: int | None = None


class RequestError(KleeneError, ValueError):
    """An argument of a call is wrong, or its arguments contradict each other."""


class NegativeCycleError(KleeneError):
    """The graph has a cycle of negative length, so some distances have no lower bound.

    Attributes
    ----------
    cycle : list
        The vertices of one such cycle, in order, by label where the graph has labels; the last has
        an arc back to the first.
    """

    def __init__(self, cycle: Sequence[Any]) -> None:
        self.cycle = [v.item() if hasattr(v, "item") else v for v in cycle]
        shown = [str(v) for v in self.cycle[:10]]
        if len(self.cycle) > 10:
            shown.append(f"... ({len(self.cycle)} vertices)")
        super().__init__(
            f"the graph has a negative cycle: {' -> '.join([*shown, str(self.cycle[0])])}. "
            "Shortest paths through it have no lower bound",
            advice=[Text("the error's ", Code(".cycle"), " lists its vertices")],
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cycle,)


class ClusterError(KleeneError, RuntimeError):
    """A cluster does not answer, or work failed on a worker, which the message names."""


class DeviceError(KleeneError, RuntimeError):
    """The requested device is not available, or cannot do what was requested."""


class KernelError(DeviceError):
    """A kernel, or the loop that launches it, broke a rule that the emulator checks."""


class MemoryBudgetError(KleeneError, MemoryError):
    """The answer does not fit in memory, or an allocation failed; nothing of it is kept.

    Its advice is what makes it fit, such as ``("predecessors", "predecessors=False")``.

    Attributes
    ----------
    needed, available : int
        The bytes that it takes, and that there are; 0 where they are not known.
    """

    def __init__(
        self,
        *problem: str,
        option: str | None = None,
        advice: Iterable[str] = (),
        lead: str = "; what makes it fit: ",
        needed: int = 0,
        available: int = 0,
    ) -> None:
        super().__init__(*problem, option=option, advice=advice, lead=lead)
        self.needed, self.available = needed, available


def in_words_of(
    error: MemoryBudgetError,
    *problem: str,
    advice: Iterable[str],
    lead: str = "; what makes it fit: ",
) -> MemoryBudgetError:
    """Return an error as the call says it that the user made, of the same bytes.

    Advice is what that call can do; a problem that is not given stays.
    """
    return MemoryBudgetError(
        *(problem or (error.problem,)), advice=advice, lead=lead, needed=error.needed,
        available=error.available,
    )  # fmt: skip


class StorageError(KleeneError, OSError):
    """A file could not be written, such as on a full disk; nothing is left under its name."""

    def __init__(self, *args: Any) -> None:
        OSError.__init__(self, *args)
        self.problem, self.option, self.advice, self._lead = Text(str(self)), None, (), ""

    def __reduce__(self) -> str | tuple[Any, ...]:
        return OSError.__reduce__(self)  # which knows the name of the file


class StoreError(KleeneError, ValueError):
    """A store, or its ledger, belongs to another call, is in use, or is damaged."""


class GraphWarning(UserWarning):
    """The input can be read in two ways; the message says which was chosen, and names the other."""


class VerificationError(KleeneError, AssertionError):
    """``verify()`` found that a result is wrong."""
