"""The notebooks of ``examples`` run, and are stored without outputs; so do programs of the gallery.

The gallery runs with all pictures when the documentation is built (``make docs``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
PROGRAMS = sorted((EXAMPLES / "gallery").rglob("plot_*.py"))


def test_there_are_examples() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "machine_learning", "network_analysis", "transport",
    ]  # fmt: skip
    assert len(PROGRAMS) > 15


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert cells
    for cell in cells:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path) -> None:
    pytest.importorskip("ipykernel")
    pytest.importorskip("nbclient")
    # In a process of its own: event loop and sockets of the client stay out of this one.
    script = (
        "import json, sys, nbformat\nfrom nbclient import NotebookClient\n"
        "notebook = nbformat.read(sys.argv[1], as_version=4)\n"
        "resources = {'metadata': {'path': sys.argv[2]}}\n"
        "NotebookClient(notebook, timeout=300, resources=resources).execute()\n"
        "kinds = {k for c in notebook.cells if c.cell_type == 'code' for o in c.outputs "
        "for k in o.get('data', {})}\n"
        "print(json.dumps(sorted(kinds)))\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(path), str(path.parent)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
    )
    assert run.returncode == 0, run.stderr[-2000:]
    shown = json.loads(run.stdout.splitlines()[-1])
    assert "text/html" in shown  # graphs, results, tables and plans show themselves


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_gallery_programs_have_a_title_and_end_with_a_picture(path: Path) -> None:
    text = path.read_text()
    title, rule = text.split("\n")[1:3]
    assert set(rule) == {"="}
    assert len(rule) == len(title)
    assert "plt.show()" in text or "kl.draw(" in text
