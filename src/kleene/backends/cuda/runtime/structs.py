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

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from kleene.backends.cuda.runtime.interface import Array
from kleene.backends.cuda.runtime.loader import FOLDER, without_comments

__all__ = ["PACK", "Struct", "StructType", "checked_value", "constant", "struct_type"]

#: The formats of Python's ``struct`` for NumPy's type codes.
PACK = {"f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q"}
PACK |= {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?"}

_PACK_INTO = {code: struct.Struct("=" + form).pack_into for code, form in PACK.items()}

_CODES = {
    "bool": "b1", "char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2",
    "int": "i4", "unsigned": "u4", "unsigned int": "u4", "long long": "i8",
    "unsigned long long": "u8", "float": "f4", "double": "f8",
}  # fmt: skip

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
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
    """Return a kernel file, or a header, after the headers that it includes, without comments."""
    seen: dict[str, str] = {}

    def add(path: str) -> None:
        if path in seen or not (FOLDER / path).exists():
            return
        seen[path] = ""
        bare = without_comments((FOLDER / path).read_text())
        for header in _INCLUDE.findall(bare):
            add(header)
        seen[path] = seen.pop(path) + bare  # after its headers

    add(file if file.endswith(".cuh") else f"{file}.cu")
    return "\n".join(seen.values())


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
        what = f"{expression!r} is no constant that the host can read"
        raise LookupError(f"{file}.cu: {what}") from None
    return int(eval(code, {name: constant(file, name) for name in code.co_names}))
