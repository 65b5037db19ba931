"""A picture that shows itself in notebooks, and is written as SVG or by matplotlib.

matplotlib draws the same shapes for all formats but SVG.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.system.atomic_file import atomic_path
from kleene.system.html import tag
from kleene.viz.shapes import Areas, Box, Dots, Lines, Shape, Text

__all__ = ["Picture", "write_svg"]


@dataclass(repr=False)
class Picture:
    """A picture that shows itself in notebooks; ``save`` writes it, ``str`` gives the SVG.

    Attributes
    ----------
    width, height : int
        The size in pixels.
    title, description : str
        What the picture shows, in words; part of the file, for readers who cannot see it.
    shapes : list
        What is drawn, in order.

    Examples
    --------
    >>> import kleene as kl
    >>> picture = kl.draw(kl.generate.cycle(4))
    >>> picture
    Picture('cycle(n=4)', 4 vertices, 4 edges, 640 x ... pixels)
    >>> str(picture).startswith("<svg")
    True
    """

    width: int
    height: int
    title: str
    description: str
    shapes: list[Shape] = field(default_factory=list)

    def save(self, path: str | Path) -> Path:
        """Write the picture in the format of the suffix, and return the path.

        Parameters
        ----------
        path : str or Path
            The file to write. ``.svg`` needs no other package; other formats (``.png``, ``.pdf``)
            need matplotlib, the extra ``kleene[plot]``.

        Returns
        -------
        Path
            The file that was written.

        Examples
        --------
        >>> import kleene as kl, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.draw(kl.generate.cycle(4)).save(f"{folder}/square.svg").name
        'square.svg'
        """
        path = Path(path)
        if not path.suffix:
            raise RequestError(f"{path}: the file name needs a suffix, such as .svg or .png")
        if path.suffix.lower() == ".svg":
            with atomic_path(path) as temporary:
                temporary.write_text(f"{self}\n", encoding="utf-8")
        else:
            _write_matplotlib(self, path)
        return path

    def __str__(self) -> str:
        return write_svg(self)

    def __repr__(self) -> str:
        size = f"{self.width} x {self.height} pixels"
        return f"Picture({self.title!r}, {self.description}, {size})"

    def _repr_svg_(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return an image with the SVG in its address: it fits the cell, and runs no script."""
        content = b64encode(str(self).encode()).decode()
        return tag(
            "img",
            src=f"data:image/svg+xml;base64,{content}",
            alt=f"{self.title}: {self.description}",
            style=f"width:{self.width}px;max-width:100%;height:auto",
        ).removesuffix("</img>")


# ---- matplotlib ---------------------------------------------------------------------------------


def _write_matplotlib(picture: Picture, path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise RequestError(
            f'a {path.suffix} picture needs matplotlib: pip install "kleene[plot]"; '
            "an .svg picture does not"
        ) from error
    figure = Figure(figsize=(picture.width / 96, picture.height / 96), dpi=192)
    supported = figure.canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in supported:
        known = ", ".join(f".{name}" for name in sorted(supported))
        raise RequestError(
            f"{path}: no picture format {path.suffix!r}", advice=[f"choose one of {known}"]
        )
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.axis("off")
    for order, shape in enumerate(picture.shapes):
        _matplotlib_shape(axes, shape, order)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, metadata={"Title": picture.title})


_POINTS = 72 / 96  # points per pixel


def _matplotlib_shape(axes: Any, shape: Shape, order: int) -> None:
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.patches import Rectangle

    pt = _POINTS
    match shape:
        case Lines(strokes, colour, width, dashes):
            style = "solid" if dashes is None else (0, tuple(length / width for length in dashes))
            lines = LineCollection(
                strokes,
                colors=colour,
                linewidths=width * pt,
                linestyles=[style],
                capstyle="round" if dashes is None else "butt",
                zorder=order,
            )
            axes.add_collection(lines, autolim=False)
        case Areas(polygons, colour):
            areas = PolyCollection(polygons, facecolors=colour, linewidths=0, zorder=order)
            axes.add_collection(areas, autolim=False)
        case Dots(at, colour, radius, rim):
            edge = {"edgecolors": rim or "none", "linewidths": 2 * pt if rim else 0}
            size = (2 * radius * pt) ** 2
            axes.scatter(*at.T, s=size, zorder=order, c=colour, **edge)
        case Box(x, y, width, height, colour):
            axes.add_patch(Rectangle((x, y), width, height, color=colour, lw=0, zorder=order))
        case Text():
            _matplotlib_text(axes, shape, order)


def _matplotlib_text(axes: Any, text: Text, order: int) -> None:
    from matplotlib.patheffects import withStroke

    axes.text(
        text.x,
        text.y,
        text.content.replace("$", r"\$"),  # no math mode
        fontsize=text.size * _POINTS,
        color=text.colour,
        ha={"start": "left", "middle": "center", "end": "right"}[text.anchor],
        fontweight="bold" if text.bold else "normal",
        path_effects=[withStroke(linewidth=4 * _POINTS, foreground=text.halo)] if text.halo else [],
        zorder=order,
    )


# ---- pictures as SVG -----------------------------------------------------------------------------


Array = NDArray[Any]
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def write_svg(picture: Picture) -> str:
    """Return a picture as SVG."""
    return "\n".join(_lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width} {picture.height}" '
        f'width="{picture.width}" height="{picture.height}" role="img" font-family="{_FONT}" '
        'stroke-linecap="round" stroke-linejoin="round">'
    )
    yield from _content(picture)
    yield "</svg>"


def _content(picture: Picture) -> Iterator[str]:
    yield f"<title>{escape(picture.title)}</title>"
    yield f"<desc>{escape(picture.description)}</desc>"
    for shape in picture.shapes:
        yield _shape(shape)


def _shape(shape: Shape) -> str:
    match shape:
        case Lines(strokes, colour, width, dashes):
            data = "".join(map(_stroke, strokes))
            rest = "" if dashes is None else f' stroke-dasharray="{dashes[0]:g} {dashes[1]:g}"'
            return (
                f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width:g}"{rest}/>'
            )
        case Areas(polygons, colour):
            data = "".join(f"{_stroke(polygon)}z" for polygon in polygons)
            return f'<path d="{data}" fill="{colour}"/>'
        case Dots(at, colour, radius, None):  # a zero-length stroke with round caps is a dot
            data = "".join(f"M{x:g} {y:g}h0" for x, y in np.round(at, 1).tolist())
            return f'<path d="{data}" stroke="{colour}" stroke-width="{2 * radius:g}"/>'
        case Dots(at, colour, radius, rim):
            style = f'r="{radius:g}" fill="{colour}" stroke="{rim}" stroke-width="2"'
            return "".join(
                f'<circle cx="{x:g}" cy="{y:g}" {style}/>' for x, y in np.round(at, 1).tolist()
            )
        case Box(x, y, width, height, colour):
            return (
                f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>'
            )
        case Text():
            return _text(shape)
    raise AssertionError(shape)


def _text(text: Text) -> str:
    weight = ' font-weight="bold"' if text.bold else ""
    rest = (
        f'x="{text.x:g}" y="{text.y:g}" font-size="{text.size:g}" '
        f'text-anchor="{text.anchor}"{weight}>{escape(text.content)}</text>'
    )
    # The halo is a second text underneath: not all viewers support paint-order.
    halo = f'<text fill="none" stroke="{text.halo}" stroke-width="4" {rest}' if text.halo else ""
    return f'{halo}<text fill="{text.colour}" {rest}'


def _stroke(points: Array) -> str:
    """Return an SVG path in tenths of a pixel, each point relative to the one before it."""
    tenths = np.round(10 * points).astype(int)
    steps = np.diff(tenths, axis=0, prepend=[[0, 0]])
    first, *rest = (f"{x / 10:g} {y / 10:g}" for x, y in steps.tolist())
    return f"M{first}" + "".join(f"l{step}" for step in rest)
