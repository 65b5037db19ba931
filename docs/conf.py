"""Sphinx: `make docs` builds the site into site/, without the network."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from importlib.metadata import version as version_of
from pathlib import Path

import numpydoc.xref
from docutils import nodes
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
os.environ.setdefault("COLUMNS", "100")  # of tables in the output of examples

# ---- the project --------------------------------------------------------------------------------

project = "Kleene"
author = "The Kleene developers"
project_copyright = "The Kleene developers"
release = version_of("kleene")
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "lab_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_templates", "_extensions", "gallery/index.rst.txt"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions and classes in this file
highlight_language = "none"  # of blocks that name no language
default_role = "code"  # a word in single backquotes in a docstring
add_module_names = False
toc_object_entries_show_parents = "hide"

# ---- Markdown -----------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 3

# ---- the reference ------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have the types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the templates list them, a page for each
numpydoc_xref_param_type = True
numpydoc_xref_aliases = {
    **{word: word for word in numpydoc.xref.DEFAULT_LINKS},  # else links to docs.python.org
    "Graph": "kleene.Graph",
    "Result": "kleene.Result",
    "Plan": "kleene.planning.plan.Plan",
}
numpydoc_xref_ignore = "all"

# ---- the gallery --------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # all are run
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "image_scrapers": ("gallery_pictures.drawings", "matplotlib"),
    "reset_modules": ("gallery_pictures.reset", "seaborn"),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|Picture",
    "backreferences_dir": "gallery/of",
    "doc_module": ("kleene",),
    "reference_url": {"kleene": None},
    "inspect_global_variables": False,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1_000,
    "write_computation_times": False,
    "copyfile_regex": r".*\.(csv|json)$",
}
warnings.filterwarnings("error", module="kleene")

# ---- the pages ----------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "Kleene"
html_static_path = ["_static"]
html_css_files = ["kleene.css"]
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # needs a web server; these pages open by double-click
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "Kleene"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "lab-results": []},
}
html_sidebars = {"index": [], "lab-results": [], "benchmarks": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


# ---- small repairs ------------------------------------------------------------------------------


def hide_constructor(
    app: Sphinx, what: str, name: str, obj: object, options: object, signature: str, returns: str
) -> tuple[str, str] | None:
    """Leave out the arguments of classes that calls return and users do not make."""
    if what == "class" and "Parameters\n" not in (inspect.getdoc(obj) or ""):
        return "", ""
    return None


def strip_blocks(app: Sphinx, tree: nodes.document) -> None:
    """Drop the blank line that ends an example for doctest."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        if block.rawsource == block.astext():
            block.rawsource, block.children = text, []
            block += nodes.Text(text)


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("doctree-read", strip_blocks)
