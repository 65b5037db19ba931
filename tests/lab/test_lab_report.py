"""The report: everything is there, nothing is fetched, and no odd data breaks it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from lab_samples import CPU, GPU, everything, experiment, point, record_of

from kleene.errors import RequestError
from kleene.system.html import Html, tag
from kleene_lab.experiments import EXPERIMENTS
from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.measurements import Measurements, measurements_in
from kleene_lab.harness.record import Check, Point, Record, Skip, read
from kleene_lab.report import Written, write_report
from kleene_lab.report.docs import experiment_sections, results_page
from kleene_lab.report.html import table
from kleene_lab.report.page import page_of
from kleene_lab.report.palette import chart_style
from kleene_lab.report.summary import headlines

VOID = {"meta", "input", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """A page as a tree would have it: every element closed, ids, links, words by element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attrs)
        assert len(given) == len(attrs), "an attribute twice"
        self.ids += [str(given["id"])] if "id" in given else []
        self.links += [str(given["href"])] if "href" in given else []
        self.fetched += [str(value) for name, value in attrs if name in ("src", "srcset", "data")]
        assert not any(name.startswith("on") for name in given), "a script in an attribute"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


def made(record: Record, experiments: tuple[Experiment, ...], folder: Path) -> tuple[Written, Page]:
    written = write_report(record, experiments, folder / "lab.html")
    text = written.page.read_text(encoding="utf-8")
    page = Page(text)
    # Nothing is fetched: scripts are in the page, and links lead within it.
    assert not {"img", "iframe", "object", "link"} & set(page.tags)
    assert page.fetched == []
    specs = re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    assert len(specs) == page.tags.count("script") - (1 if specs else 0)
    assert all("datasets" in json.loads(spec) for spec in specs)
    plain = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "http" not in plain
    assert "@import" not in plain
    assert not re.search(r"url\(", plain)
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    return written, page


def test_everything_is_there(tmp_path: Path) -> None:
    record, experiments = everything()
    written, page = made(record, experiments, tmp_path)
    assert written.problems == ()
    for words in (
        "In short", "Contents", "How it was measured", "NVIDIA H200", "EPYC",
        "What is by-size?", "After Ann and Bob, Graphs on GPUs, 2013. Without copies.",
        "Larger takes longer.", "kleene lab run by-size", "naive, Tesla M2090",
        "365 checks passed and 1 failed.", "bfs: wrong at vertex 3",
        "4 points or experiments were skipped, 1 of them because of an error.",
        "would take about 12 s a call (the first; the others likewise)", "2¹³, 2¹⁴",
        "CudaError: out of memory", "from-the-future", "alpha", "Not measured",
        "not-measured Title of not-measured: needs a GPU", "shares Title of shares: not run",
        "avx512", "2,100 MHz", "128.0 GiB", "580.1", "times as fast as SciPy", "copy in",
        "of ceiling", "relaxations/s", "roads", "whole call", "cold",
    ):  # fmt: skip
        assert words in page.text, words
    # By size on two machines, peers on two, two panels on two; legends besides.
    assert page.tags.count("figure") == 8
    assert page.tags.count("svg") >= 8
    text = written.page.read_text(encoding="utf-8")
    assert text.count('role="img" aria-label="time by vertices on') == 2
    sections = {"by-size", "peers", "panels", "about-machines", "about-not-measured"}
    assert sections | {"about-unknown"} <= set(page.ids)
    assert not {"not-measured", "shares"} & set(page.ids)


def test_figures_are_files_too(tmp_path: Path) -> None:
    record, experiments = everything()
    written = write_report(record, experiments, tmp_path / "lab.html", tmp_path / "new" / "folder")
    names = {path.name for path in written.figures}
    assert names == {"by-size.svg", "peers.svg", "panels.svg"}
    assert all(path.read_text().startswith("<svg") for path in written.figures)


def test_a_record_of_nothing(tmp_path: Path) -> None:
    _, page = made(Record(), (), tmp_path)
    assert "Nothing was measured yet." in page.text
    _, page = made(Record(), everything()[1], tmp_path)
    assert page.text.count("not run") == 5


def test_errors_in_declarations_do_not_stop_the_report(tmp_path: Path) -> None:
    def findings(results: Measurements) -> Iterator[str]:
        yield "First."
        raise ZeroDivisionError("no arcs")

    def column(point: Point) -> str:
        raise KeyError("levels")

    def headline(results: Measurements) -> str:
        raise IndexError("empty")

    broken = experiment(findings=findings, columns=(("levels", column),), headline=headline)
    written, page = made(record_of(point("a", 1, 1.0), point("a", 2, 1.0)), (broken,), tmp_path)
    assert sorted(written.problems) == [
        "by-size: column 'levels': KeyError: 'levels'",
        "by-size: findings on EPYC: ZeroDivisionError: no arcs",
        "by-size: headline on EPYC: IndexError: empty",
    ]
    assert "The findings failed: ZeroDivisionError" in page.text
    assert "3 problems while this page was made" in page.text


HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(1)">&amp;"\'<!--'


def test_hostile_names_are_words(tmp_path: Path) -> None:
    run = replace(
        CPU, machine={"processor": HOSTILE, "cores": HOSTILE, HOSTILE: {HOSTILE: HOSTILE}}
    )
    lines = [
        *(point(HOSTILE, x, 1.0, 2.0, experiment=HOSTILE, panel=HOSTILE, unit=HOSTILE, work=1.0,
                checked=HOSTILE) for x in (1, 2)),
        point(HOSTILE, 1, 1.0, experiment="other" + HOSTILE),
        Skip("c", HOSTILE, HOSTILE, panel=HOSTILE, series=HOSTILE),
        Check("c", HOSTILE, 1, 1, (HOSTILE,)),
    ]  # fmt: skip
    declared = experiment(
        HOSTILE, lambda results: [HOSTILE], title=HOSTILE, question=HOSTILE, notes=HOSTILE,
        headline=lambda results: HOSTILE, columns=((HOSTILE, lambda point: HOSTILE),),
    )  # fmt: skip
    written, page = made(record_of(*lines, runs=(run,)), (declared,), tmp_path)
    assert written.problems == ()
    assert page.text.count("alert(1)") > 20


def test_many_points_make_no_heavy_page(tmp_path: Path) -> None:
    """Thirty experiments on two machines, eight series at eight sizes each."""
    experiments = tuple(experiment(f"e{i}") for i in range(30))
    lines = [
        point(f"series {s}", 2.0**x, *(2**x * s / 1e6 * k for k in (1, 1.01, 1.02)),
              run=run, experiment=e.id, work=2.0**x, unit="arcs")
        for e in experiments for run in ("c", "g") for s in range(1, 9) for x in range(8)
    ]  # fmt: skip
    written, _ = made(record_of(*lines), experiments, tmp_path)
    assert len(lines) == 3840
    assert written.page.stat().st_size < 6_000_000


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kleene_lab.report.find_spec", lambda name: None)
    with pytest.raises(RequestError, match=re.escape('pip install "kleene[report]"')):
        write_report(*everything(), tmp_path / "lab.html")


def test_only_the_report_imports_charts() -> None:
    program = (
        "import sys, kleene.cli.commands.lab_progress, kleene_lab.harness.runner, "
        "kleene_lab.report.compare, kleene_lab.experiments, kleene_lab.report\n"
        "assert not {'altair', 'vl_convert'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_folder_no_page(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no directory"):
        write_report(Record(), (), tmp_path / "nowhere" / "lab.html")


# ---- for the documentation ----------------------------------------------------------------------


def test_results_for_the_documentation() -> None:
    record, experiments = everything()
    problems: list[str] = []
    sections = experiment_sections(record, experiments, "report.html", problems)
    assert list(sections) == ["by-size", "peers", "panels"]
    text = results_page(record, experiments, sections, "report.html", problems)
    assert problems == []
    lines = text.splitlines()
    assert "# Lab results" in lines
    assert [line for line in lines if line.startswith("## ")] == [
        "## In short", "## Title of by-size", "## Title of peers", "## Title of panels",
    ]  # fmt: skip
    assert '<a href="report.html">the whole report</a>' in text
    assert "kleene lab run by-size" in text
    assert 'href="report.html#by-size"' in text
    assert ".dark{--ground:" in chart_style(".dark")
    assert text.count("<figure>") == 8
    blocks = re.findall(r"^<div.*</div>$", text, flags=re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        Page(block)


def test_documentation_without_records() -> None:
    text = results_page(Record(), everything()[1], {}, "report.html", [])
    assert "There are no records" in text


# ---- parts --------------------------------------------------------------------------------------


def test_tags_escape() -> None:
    assert tag("a", "<", Html("<b>"), None, href='"', hidden=True, title=None) == (
        '<a href="&quot;" hidden>&lt;<b></a>'
    )
    assert "<td>&lt;i&gt;</td>" in table("t", ["a", "b"], [("", [["x", "<i>"]])])


def results(declared: Experiment, *points: Point) -> Measurements:
    return measurements_in(record_of(*points), declared)[0]


def sentences(*measurements: Measurements) -> list[str]:
    return [line.sentence for line in headlines(measurements, [])]


def test_headlines_compare_with_the_document() -> None:
    record, experiments = everything()
    texts = sentences(*measurements_in(record, experiments[0])[:1])
    assert len(texts) == 1
    # Ours are measured up to 4,096, the document's up to 1,024; its fastest there is naive.
    assert re.fullmatch(
        r"Title of by-size, 1,024 vertices: tiled takes \S+ ms, [\d,]+ times as fast as the "
        r"document's best \(naive, Tesla M2090: 4 s\)\.",
        texts[0],
    )


def test_headlines_compare_with_a_baseline() -> None:
    declared = experiment(baseline="slow")
    points = [point("slow", 1, 8.0), point("fast", 1, 2.0), point("faster", 2, 1.0)]
    assert sentences(results(declared, *points)) == [
        "Title of by-size, 1 vertices: fast takes 2 s, 4.0 times as fast as slow (8 s)."
    ]
    finding = ["Title of by-size: Larger takes longer."]
    assert sentences(results(declared, point("fast", 1, 2.0))) == finding
    assert sentences(results(declared, point("slow", 1, 2.0))) == finding


def test_own_headlines_come_first_and_small_ratios_not_at_all() -> None:
    def broken(results: Measurements) -> Iterator[str]:
        raise ZeroDivisionError

    small = experiment(findings=broken, baseline="slow")
    own = experiment(headline=lambda results: "Look.")
    silent = experiment(headline=lambda results: None, findings=lambda results: [])
    points = [point("slow", 1, 1.1), point("fast", 1, 1.0)]
    measurements = [results(declared, *points) for declared in (small, own, silent)]
    assert sentences(*measurements) == ["Look."]


def test_a_machine_has_four_headlines_from_all_suites() -> None:
    """Three machines fit one screen; no suite takes the places of another."""
    suites = [("documents",)] * 5 + [("peers",)] * 2 + [("prepared",)]
    measurements = [
        results(
            experiment(suites=suite, headline=lambda results, number=number: f"Line {number}."),
            point("a", 1, 1.0),
        )
        for number, suite in enumerate(suites)
    ]
    assert sentences(*measurements) == ["Line 0.", "Line 5.", "Line 7.", "Line 1."]


def test_the_report_on_the_records_has_no_empty_name_and_no_exponent() -> None:
    record = read(*sorted((Path(__file__).parents[2] / "benchmarks").glob("*.jsonl")))
    text = re.sub(r"<(script|style).*?</\1>", "", page_of(record, EXPERIMENTS, []), flags=re.S)
    words = re.sub(r"<[^>]+>", "\n", text)
    assert re.findall(r".*(?:For ,|, ,|\de[+-]\d).*", words) == []


def test_spreads() -> None:
    some = results(
        experiment(), point("a", 1, 1.0, 2.0, 4.0), point("a", 2, 1.0, 2.0, 3.0, 4.0, 5.0)
    )
    assert [(s.low, s.high, s.kind) for s in map(some.spread, some.points)] == [
        (1, 4, "range"),
        (2, 4, "quartiles"),
    ]
    rated = results(experiment(y="rate"), point("a", 1, 1.0, 2.0, work=8.0))
    assert rated.value(rated.points[0]) == pytest.approx(8 / 1.5)
    assert (rated.spread(rated.points[0]).low, rated.spread(rated.points[0]).high) == (4, 8)
    texts = results(experiment(), point("a", 1, 1.0, facts={"interval": [0.5, 3.0]}))
    assert texts.spread(texts.points[0]).kind == "99 % interval"


def test_machines_are_distinguished(tmp_path: Path) -> None:
    twin = replace(GPU, id="t", machine=GPU.machine | {"cores": 8})
    record = record_of(
        point("a", 1, 1.0, run="g"), point("a", 1, 2.0, run="t"), runs=(GPU, twin)
    )  # fmt: skip
    assert len(measurements_in(record, experiment())) == 2
    _, page = made(record, (experiment(),), tmp_path)
    assert page.tags.count("figure") == 2
