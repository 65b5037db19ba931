"""Pictures of gallery examples: drawings of ``kl.draw`` as SVG, and matplotlib's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def drawings(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Write the picture that a block ends with as a file, and return the reST that shows it."""
    last = block_vars["example_globals"].get("___")  # the value of the last expression so far
    if not hasattr(last, "_repr_svg_") or last is block_vars.get("drawn"):
        return ""
    block_vars["drawn"] = last
    path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
    path.write_text(last._repr_svg_(), "utf-8")
    return str(figure_rst([str(path)], gallery_conf["src_dir"], last.title))


def reset(gallery_conf: dict[str, Any], name: str) -> None:
    """Set what all figures have in common."""
    import matplotlib

    os.environ["COLUMNS"] = "100"
    matplotlib.use("agg")
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(
        {
            "figure.figsize": (7.2, 4.2),
            "figure.dpi": 100,
            "savefig.bbox": "tight",
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlelocation": "left",
            "axes.prop_cycle": matplotlib.cycler(
                color=["#1c4482", "#a83a12", "#107645", "#a8801f", "#3d91ec", "#4c4d50"]
            ),
        }
    )
