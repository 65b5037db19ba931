"""A picture that shows itself in notebooks, and is written as SVG or by matplotlib.

matplotlib draws the same shapes for all formats but SVG.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kleene.errors import RequestError
from kleene.system.atomic_file import atomic_path
from kleene.system.html import tag
from kleene.viz.shapes import Areas, Box, Dots, Lines, Region, Shape, Text
from kleene.viz.svg import write_svg

__all__ = ["Picture"]


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
        raise RequestError(f"{path}: no picture format {path.suffix!r}; choose one of {known}")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.axis("off")
    for order, shape in enumerate(picture.shapes):
        _matplotlib_shape(axes, shape, order)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, metadata={"Title": picture.title})


_POINTS = 72 / 96  # points per pixel


def _matplotlib_shape(axes: Any, shape: Shape, order: int) -> None:
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path as Outline

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
        case Region(rings, colour, opacity, width):  # holes run the other way round
            outline = Outline.make_compound_path(*(Outline(ring, closed=True) for ring in rings))
            fill, rims = to_rgba(colour, opacity), to_rgba(colour)
            axes.add_patch(PathPatch(outline, fc=fill, ec=rims, lw=width * pt, zorder=order))
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
