"""Structs and constants that host and device share, read from the kernel sources.

They are declared once, in C++. The host reads the declaration for the names, types and offsets of
the fields, so that a record in device memory is a NumPy structured array and a kernel with many
parameters takes one struct by value:

    Control = struct_type("sssp_near_far", "Control")
    control = device.zeros(1, Control.dtype, "control")
    params = struct_type("sssp_near_far", "SearchParams").pack(control=control, n=5, ...)
    kernel.launch(grid, block, (params,))
    params.update(n=6)

Such a struct has no methods and no bit fields. Its fields are pointers, numbers, macros of the
variant (``KL_TYPE``), other such structs, and arrays of them. The emulator's build knows what the
C++ compiler makes of it: a launch there checks the size.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.cuda.runtime.interface import Argument, Array
from kleene.backends.cuda.runtime.loader import resolved, without_comments

__all__ = [
    "PACK",
    "Parameters",
    "Signature",
    "Struct",
    "StructType",
    "arrays_of",
    "checked_value",
    "constant",
    "signatures",
    "struct_type",
]

#: The formats of Python's ``struct`` for NumPy's type codes.
PACK = {"f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q"}
PACK |= {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?"}

_PACK_INTO = {code: struct.Struct("=" + form).pack_into for code, form in PACK.items()}

_CODES = {
    "bool": "b1", "char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2",
    "int": "i4", "unsigned": "u4", "unsigned int": "u4", "long long": "i8",
    "unsigned long long": "u8", "float": "f4", "double": "f8",
}  # fmt: skip

_STRUCT = re.compile(r"\bstruct\s+(\w+)\s*\{([^{}]*)\}\s*;")
_DECLARATOR = re.compile(r"(?P<stars>[*\s]*)(?P<name>\w+)\s*(?:\[(?P<extent>[^\]]+)\])?")
_QUALIFIER = re.compile(r"\b(?:const|volatile|__restrict__)\b")
_CONSTANT = re.compile(r"\b(?:constexpr|const)\s+[\w\s]+?\b(\w+)\s*=\s*([^;]+);")


# ---- arguments ----------------------------------------------------------------------------------


def checked_value(code: str, arg: Any) -> int | float | bool | bytearray:
    """Return a number as it is, an array as its address, a struct as its bytes.

    Raise TypeError if the parameter has another type. A float takes no int: a GPU knows only the
    size of a parameter.
    """
    kind = code[0]
    if kind == "*":
        if arg is None:
            return 0
        if isinstance(arg, Array) and _points_to(code[1:], arg.dtype):
            return arg.address
    elif kind == "V":
        if isinstance(arg, Struct) and int(code[1:]) == len(arg.data):
            return arg.data
    elif isinstance(arg, np.generic):
        if code == arg.dtype.str[1:]:
            value: int | float | bool = arg.item()
            return value
    elif isinstance(arg, (int, float)) and isinstance(arg, float) == (kind == "f"):
        return arg
    raise TypeError(f"{code}, not {arg!r}")


def _points_to(code: str, dtype: np.dtype[Any]) -> bool:
    """Whether an array may be passed; a struct such as int4 may be an array of numbers too."""
    if code == "" or code == dtype.str[1:]:
        return True
    return code.startswith("V") and dtype.names is None


@dataclass(eq=False)
class Struct:
    """A struct to pass by value; see :meth:`StructType.pack`."""

    type: StructType
    data: bytearray = field(repr=False)
    arrays: dict[str, Array] = field(default_factory=dict, repr=False)  # keeps their memory alive

    def update(self, **fields: Any) -> None:
        """Change some fields."""
        data, members = self.data, self.type.members
        for name, value in fields.items():
            code, offset, pack_into = members[name]
            try:
                pack_into(data, offset, checked_value(code, value))
            except (TypeError, struct.error) as error:
                raise TypeError(f"{self.type.name}.{name}, a {code}: {error}") from None
            if code[0] != "*":
                continue
            if value is None:
                self.arrays.pop(name, None)
            else:
                self.arrays[name] = value


# ---- declarations -------------------------------------------------------------------------------


class StructType:
    """A struct that host and device share.

    Attributes
    ----------
    dtype : numpy.dtype
        The aligned structured type; pointers are unsigned integers in it.
    fields : dict
        The type code and the offset of each number and pointer.
    members : dict
        Both, and the function that packs one.
    """

    def __init__(self, name: str, members: list[tuple[str, str | np.dtype[Any], int]]) -> None:
        self.name = name
        rows: list[Any] = []
        for member, kind, extent in members:
            number = "u8" if isinstance(kind, str) and kind[0] == "*" else kind
            rows.append((member, number, extent) if extent else (member, number))
        self.dtype = np.dtype(rows, align=True)
        assert self.dtype.fields is not None
        self.fields = {
            member: (kind, int(self.dtype.fields[member][1]))
            for member, kind, extent in members
            if isinstance(kind, str) and not extent
        }
        self.members = {
            member: (code, offset, _PACK_INTO["u8" if code[0] == "*" else code])
            for member, (code, offset) in self.fields.items()
        }

    def __repr__(self) -> str:
        return f"{self.name} of {self.dtype.itemsize} bytes"

    def pack(self, **fields: Any) -> Struct:
        """Return a struct to pass by value; every field is given once."""
        names = self.dtype.names or ()
        if wrong := set(names) ^ set(fields):
            raise TypeError(f"{self.name}.pack: missing or unknown fields {sorted(wrong)}")
        packed = Struct(self, bytearray(self.dtype.itemsize))
        packed.update(**fields)
        return packed


@cache
def _text(file: str) -> str:
    """Return a kernel file, or a header, with the headers that it includes, without comments."""
    return without_comments(resolved(file))


@cache
def struct_type(file: str, name: str, **defines: str | int) -> StructType:
    """Return a struct of a kernel file or of a header that it includes.

    ``file`` is named without its ending, or it is a header such as ``"common/load_balance.cuh"``.
    """
    bodies = {found[1]: found[2] for found in _STRUCT.finditer(_text(file))}
    if name not in bodies:
        raise LookupError(f"no struct {name} without methods in {file}.cu and its headers")
    return StructType(name, list(_members(file, name, bodies, defines)))


def _members(
    file: str, name: str, bodies: Mapping[str, str], defines: Mapping[str, str | int]
) -> Iterator[tuple[str, str | np.dtype[Any], int]]:
    """Yield the name, the type code or the struct, and the extent of each field."""
    for statement in filter(str.strip, bodies[name].split(";")):
        words = " ".join(_QUALIFIER.sub(" ", statement).split())
        first, *others = words.split(",")
        found = re.fullmatch(r"(?P<type>[\w ]+?)(?P<rest>[ *]*\b\w+\s*(?:\[[^\]]+\])?)", first)
        if found is None:
            raise LookupError(f"{name} in {file}.cu: the host cannot read {words!r}")
        base = str(defines.get(found["type"], found["type"]))
        for text in (found["rest"], *others):
            declarator = _DECLARATOR.fullmatch(text.strip())
            if declarator is None:
                raise LookupError(f"{name} in {file}.cu: the host cannot read {text!r}")
            extent = 0 if declarator["extent"] is None else _number(file, declarator["extent"])
            if "*" in declarator["stars"]:
                nested = declarator["stars"].count("*") > 1
                yield declarator["name"], "*u8" if nested else f"*{_CODES.get(base, '')}", extent
            elif base in bodies:
                yield declarator["name"], struct_type(file, base, **defines).dtype, extent
            elif base in _CODES:
                yield declarator["name"], _CODES[base], extent
            else:
                raise LookupError(f"{name} in {file}.cu: the host does not know type {base}")


# ---- constants ----------------------------------------------------------------------------------

_EXPRESSION = re.compile(r"(?:\w+|<<|[-+*/() ])+")


@cache
def constant(file: str, name: str) -> int:
    """Return an integer constant of a kernel file, named as in :func:`struct_type`."""
    for found in _CONSTANT.finditer(_text(file)):
        if found[1] == name:
            return _number(file, found[2])
    raise LookupError(f"no constant {name} in {file}.cu and its headers")


def _number(file: str, expression: str) -> int:
    """Return the value of an expression of integers and constants."""
    plain = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2})\b", r"\1", expression.strip())
    try:
        if not _EXPRESSION.fullmatch(plain):
            raise SyntaxError
        # Not by ast, which before Python 3.11.8 fails where several threads use it (gh-106905).
        code = compile(plain.replace("/", "//"), f"{file}.cu", "eval")
    except SyntaxError:
        what = f"{expression!r} is not a constant that the host can read"
        raise LookupError(f"{file}.cu: {what}") from None
    return int(eval(code, {name: constant(file, name) for name in code.co_names}))


# ---- Kernel signatures: the types of parameters, and packing arguments for a launch -------------


def arrays_of(args: Sequence[Argument]) -> list[Array]:
    """Return all arrays of a launch, those in structs too."""
    found = [arg for arg in args if isinstance(arg, Array)]
    for arg in args:
        if isinstance(arg, Struct):
            found += arg.arrays.values()
    return found


class Signature:
    """The parameter types of a kernel, as NumPy type codes.

    A star marks a pointer; V and a number of bytes is a struct.
    """

    def __init__(self, title: str, codes: Sequence[str]) -> None:
        self.title = title
        self.codes = tuple(codes)
        self._pack = struct.Struct("=" + "".join(_slot(code) for code in codes))

    @property
    def nbytes(self) -> int:
        """Bytes of all packed arguments."""
        return self._pack.size

    def offsets(self) -> list[int]:
        """Return where each packed argument begins."""
        sizes = [struct.calcsize("=" + _slot(code)) for code in self.codes]
        return [sum(sizes[:i]) for i in range(len(sizes))]

    def values(self, args: Sequence[Argument]) -> list[int | float | bool | bytearray]:
        """Return what is packed; raise TypeError on a mismatch."""
        if len(args) != len(self.codes):
            raise TypeError(f"{self.title} takes {len(self.codes)} arguments, not {len(args)}")
        try:
            return [checked_value(*pair) for pair in zip(self.codes, args, strict=True)]
        except TypeError:
            for i, pair in enumerate(zip(self.codes, args, strict=True)):
                try:
                    checked_value(*pair)
                except TypeError as error:
                    raise TypeError(f"argument {i} of {self.title} is {error}") from None
            raise

    def pack_into(self, buffer: ctypes.Array[ctypes.c_char], args: Sequence[Argument]) -> None:
        """Write all arguments into a buffer, each aligned to 8 bytes."""
        try:
            self._pack.pack_into(buffer, 0, *self.values(args))
        except struct.error as error:
            raise TypeError(f"{self.title}: {error}, in {args!r}") from None

    def pack(self, args: Sequence[Argument]) -> bytes:
        """Return all arguments, each aligned to 8 bytes."""
        try:
            return self._pack.pack(*self.values(args))
        except struct.error as error:
            raise TypeError(f"{self.title}: {error}, in {args!r}") from None


def _slot(code: str) -> str:
    """Return the format of one argument, padded to a multiple of 8 bytes."""
    if code.startswith("*"):
        return "Q"
    if code.startswith("V"):
        size = int(code[1:])
        return f"{size}s{-size % 8}x"
    return f"{PACK[code]}{8 - int(code[1:])}x"


@cache
def signatures(file: str, variant: str) -> dict[str, Signature]:
    """Return the signature of each kernel of a variant, by name, from the emulator's build."""
    from kleene import _emulator

    return {
        name: Signature(f"kernel {name} ({file}.cu, {variant})", codes)
        for _, of, kind, name, codes, _ in _emulator.kernels()
        if (of, kind) == (file, variant)
    }


# ---- packing of kernel arguments for a GPU ------------------------------------------------------
# Packing of kernel arguments for a GPU, which knows the offset and the size of each parameter.
#
# An integer is packed as an integer of that size and a float as a float of that size, so host code
# passes no int for a float; the emulator, which knows the types, refuses that.


class _Plan(NamedTuple):
    """How arguments of certain types are packed, and the positions of those that need work."""

    pack_into: Callable[..., None]
    arrays: Sequence[int]
    nulls: Sequence[int]
    structs: Sequence[int]


class Parameters:
    """The parameters of a kernel, and a buffer for the arguments of one launch.

    Parameters
    ----------
    title : str
        The name of the kernel in messages.
    layout : sequence of (offset, size)
        Where each parameter lies, in bytes.
    """

    def __init__(self, title: str, layout: Sequence[tuple[int, int]]) -> None:
        self._title, self._layout = title, tuple((offset, size) for offset, size in layout)
        self._plans: dict[tuple[type, ...], _Plan] = {}  # by the types of the arguments
        self._buffer = ctypes.create_string_buffer(max([8, *map(sum, self._layout)]))
        first = ctypes.addressof(self._buffer)
        self._pointers = (ctypes.c_void_p * max(1, len(self._layout)))(
            *(first + offset for offset, _ in self._layout)
        )
        #: The address of an array of the address of each argument.
        self.address = ctypes.addressof(self._pointers)

    def pack(self, args: Sequence[Argument]) -> None:
        """Write the arguments into the buffer; raise TypeError on a mismatch."""
        kinds = tuple(map(type, args))
        plan = self._plans.get(kinds)
        if plan is None:
            plan = self._plans[kinds] = self._plan(kinds)
        values: list[Any] = list(args)
        for i in plan.arrays:
            values[i] = values[i].address
        for i in plan.nulls:
            values[i] = 0
        for i in plan.structs:
            values[i] = self._struct_bytes(i, values[i])
        try:
            plan.pack_into(self._buffer, 0, *values)
        except struct.error:
            plan.pack_into(self._buffer, 0, *map(self._wrapped, range(len(values)), values))

    def _plan(self, kinds: tuple[type, ...]) -> _Plan:
        """Return how arguments of these types are packed."""
        if len(kinds) != len(self._layout):
            raise TypeError(f"{self._title} takes {len(self._layout)} arguments, not {len(kinds)}")
        form, end = "=", 0
        for position, (kind, (offset, size)) in enumerate(zip(kinds, self._layout, strict=True)):
            code = _code(kind, size)
            if code is None:
                raise TypeError(
                    f"argument {position} of {self._title} has {size} bytes, and is given as "
                    f"{kind.__name__}"
                )
            form += f"{offset - end}x{code}"
            end = offset + size
        of = {kind: [i for i, each in enumerate(kinds) if each is kind] for kind in set(kinds)}
        return _Plan(
            struct.Struct(form).pack_into,
            of.get(Array, ()),
            of.get(type(None), ()),
            of.get(Struct, ()),
        )

    def _struct_bytes(self, position: int, given: Struct) -> bytearray:
        size = self._layout[position][1]
        if len(given.data) != size:
            raise TypeError(
                f"argument {position} of {self._title} has {size} bytes, "
                f"and {given.type.name} has {len(given.data)}"
            )
        return given.data

    def _wrapped(self, position: int, value: Any) -> Any:
        """Return an unsigned integer as the signed one of the same bits."""
        if not isinstance(value, int):
            return value
        bits = 8 * self._layout[position][1]
        if not -(2 ** (bits - 1)) <= value < 2**bits:
            raise TypeError(
                f"argument {position} of {self._title} has {bits // 8} bytes, too few for {value}"
            )
        return value - 2**bits if value >= 2 ** (bits - 1) else value


_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = {4: "f", 8: "d"}


def _code(kind: type, size: int) -> str | None:
    """Return the format of an argument of a type in a parameter of a size; None: it has none."""
    if kind is Struct:
        return f"{size}s"
    if kind is Array or kind is type(None):
        return "Q" if size == 8 else None
    if issubclass(kind, np.generic):
        dtype = np.dtype(kind)
        return PACK.get(dtype.str[1:]) if dtype.itemsize == size else None
    if issubclass(kind, int):
        return _SIGNED.get(size)
    return _FLOATS.get(size) if issubclass(kind, float) else None
