"""docs/command-line.md: every example is run, and prints what the page says.

Times, sizes of free memory, versions and what depends on the machine are not compared.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import kleene

import kleene as kl
from kleene.system.doctor import examine

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
PROGRAM = f"{shlex.quote(sys.executable)} -m kleene.cli.main"

#: What differs between runs and machines.
VARIABLE = (
    (re.compile(r"\b[\d.]+ (ms|µs|s)\b"), "TIME"),
    (re.compile(r"\bby \w+ on \w+,"), "by METHOD on DEVICE,"),
)
#: Commands whose output says what this machine is, or that take long.
NOT_COMPARED = ("doctor", "demo", "explain", "lab")


def examples() -> Iterator[tuple[str, str]]:
    """Yield each command line of the page and the output under it."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


EXAMPLES = list(examples())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the page starts from; later examples use what earlier ones wrote."""
    path = tmp_path_factory.mktemp("page")
    kl.write(kl.datasets.rome(), path / "rome99.gr")
    for command, output in EXAMPLES:
        if command.startswith("cat "):
            (path / command.split()[1]).write_text(output)
    return path


def normalized(text: str) -> str:
    for pattern, name in VARIABLE:
        text = pattern.sub(name, text)
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) > 20


@pytest.mark.skipif(shutil.which("bash") is None, reason="the page shows a shell")
def test_examples_print_what_the_page_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong = []
    for command, output in EXAMPLES:
        words = command.split()
        if words[0] == "kleene" and words[1] in NOT_COMPARED:
            continue
        found = _run(command)
        if normalized(found) != normalized(output):
            wrong.append(f"$ {command}\n{found}\n--- the page says\n{output}")
    assert not wrong, "\n\n".join(wrong)


def test_the_example_of_doctor_has_the_lines_of_doctor() -> None:
    shown = next(output for command, output in EXAMPLES if command == "kleene doctor")
    report = examine()
    for title, section in report.in_words().items():
        names = re.search(rf"^{title}\n((?:  .*\n)+)", shown, re.MULTILINE)
        assert names is not None, title
        assert [row.split("  ")[1] for row in names[1].splitlines()] == list(section), title
    keys = re.search(r"To get more.*?\nJSON: (.*?)\n\n", PAGE.read_text(), re.DOTALL)
    assert keys is not None
    for key in report.as_dict():
        assert f"`{key}`" in keys[1]


def _run(command: str) -> str:
    """Run a line of the page: in this process, unless it needs a shell."""
    line, code = re.fullmatch(r'(.*?)(; echo "exit code \$\?")?', command).groups()
    line, which, count = re.fullmatch(r"(.*?)(?: \| (head|tail) -(\d+))?", line).groups()
    if line.startswith("cat "):
        output = Path(line.split()[1]).read_text()
    elif line.startswith("kleene ") and "|" not in line:
        done = kleene(*shlex.split(line)[1:])
        output = done.output + (f"exit code {done.exit_code}\n" if code else "")
    else:
        script = re.sub(r"\bkleene (?=\w)", f"{PROGRAM} ", line)
        output = subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout
    lines = output.splitlines()
    if which is not None:
        lines = lines[: int(count)] if which == "head" else lines[-int(count) :]
    return "\n".join(lines) + "\n"
