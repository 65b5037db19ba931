"""The report in a real browser: it loads without errors, fits a phone, and follows the theme."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, chromium
from lab_samples import everything

from kleene_lab.report import write_report

CHROMIUM = chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

#: Elements that stick out of the window, but for those in a box that scrolls or cuts.
STICKING_OUT = """
[...document.querySelectorAll('body *')].filter(e =>
  !e.closest('.scroll, .chart') && !e.closest('legend') && e.getBoundingClientRect().width > 0 &&
  (e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1)
).map(e => e.tagName + '.' + e.className)
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    record, experiments = everything()
    return write_report(record, experiments, tmp_path_factory.mktemp("page") / "lab.html").page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with Browser(CHROMIUM) as started:
        yield started


@pytest.mark.parametrize("width", [360, 390, 768, 1280, 1920])
def test_it_loads_and_fits(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width)
    assert browser.errors == []
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(STICKING_OUT) == []
    charts = browser.run(
        "[...document.querySelectorAll('.chart svg:not(svg svg)')]"
        ".map(s => s.getBoundingClientRect().toJSON())"
    )
    assert len(charts) == 8
    assert all(chart["width"] > 200 and chart["height"] > 100 for chart in charts)


def test_folded_tables_scroll_in_their_boxes_on_a_phone(browser: Browser, page: Path) -> None:
    browser.open(page, 360)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.run("document.documentElement.scrollWidth") <= 360
    assert browser.run(STICKING_OUT) == []
    wide = browser.run(
        "[...document.querySelectorAll('.all .scroll')].map(b => b.scrollWidth > b.clientWidth)"
    )
    assert any(wide)


def test_links_lead_somewhere(browser: Browser, page: Path) -> None:
    browser.open(page)
    links = browser.run("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    assert len(links) > 10
    for link in set(links):
        browser.run(f"document.querySelector('a[href=\"{link}\"]').click()")
        assert browser.run(f"document.querySelector('{link}') !== null"), link
    assert browser.run("location.hash") in links
    browser.run("document.querySelector('.contents a[href=\"#peers\"]').click()")
    assert abs(browser.run("document.querySelector('#peers').getBoundingClientRect().top")) < 200


def brightness(colour: str) -> float:
    numbers = [float(number) for number in re.findall(r"[\d.]+", colour)[:3]]
    return sum(numbers) / 3


def test_light_and_dark(browser: Browser, page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    for theme in ("light", "dark"):
        browser.open(page, theme=theme)
        assert (brightness(browser.run(ground)) > 128) == (theme == "light")
        assert (brightness(browser.run(ink)) < 160) == (theme == "light")
        for chosen in ("dark", "light"):  # whatever the system says
            browser.run(f"document.querySelector('#theme-{chosen}').click()")
            assert (brightness(browser.run(ground)) > 128) == (chosen == "light")
        browser.run("document.querySelector('#theme-auto').click()")
        assert (brightness(browser.run(ground)) > 128) == (theme == "light")


def test_names_are_beside_the_lines_or_in_a_legend(browser: Browser, page: Path) -> None:
    shown = "getComputedStyle(document.querySelector('{}')).display"
    browser.open(page, 1280)
    assert browser.run(shown.format("#by-size .names_marks")) != "none"
    assert browser.run(shown.format("#by-size .key")) == "none"
    browser.open(page, 390)
    assert browser.run(shown.format("#by-size .names_marks")) == "none"
    assert browser.run(shown.format("#by-size .key")) == "flex"


def test_names_do_not_stick_out_of_their_charts(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    out = browser.run(
        "[...document.querySelectorAll('figure svg')].flatMap(s => "
        "[...s.querySelectorAll('text')].filter(t => t.getBoundingClientRect().right > "
        "s.getBoundingClientRect().right + 2 || t.getBoundingClientRect().left < "
        "s.getBoundingClientRect().left - 2).map(t => t.textContent))"
    )
    assert out == []


def test_hovering_over_a_point_shows_its_values(browser: Browser, page: Path) -> None:
    browser.open(page)
    dots = "document.querySelectorAll('#by-size .chart[data-live] .mark-symbol path')"
    browser.run("document.querySelector('#by-size .charts').scrollIntoView()")
    browser.wait(f"{dots}.length > 0")
    series = "tiled"
    at = browser.run(
        f"[...{dots}].filter(d => d.__data__?.datum.series === '{series}')"
        ".map(d => d.getBoundingClientRect()).map(r => [r.x + r.width / 2, r.y + r.height / 2])[0]"
    )
    for x in (at[0] - 60, at[0]):
        browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=at[1])
    browser.wait("document.querySelector('#vg-tooltip-element.visible') !== null")
    tip = browser.run("document.querySelector('#vg-tooltip-element').innerText")
    assert {"series", "vertices", "time", "details"} <= set(re.split(r"\s+", tip))
    assert re.search(r"tiled\s+vertices:?\s+512\s+time:?\s+[\d.]+ .?s\s", tip)
    assert "measured 7 times, quartiles" in tip
    # The other series step back.
    browser.wait(f"[...{dots}].some(d => d.getAttribute('opacity') === '0.15')")
    assert browser.errors == []


def test_charts_show_where_scripts_do_not_run(browser: Browser, page: Path) -> None:
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run("document.querySelectorAll('.chart[data-live]').length") == 0
    assert browser.run("document.querySelectorAll('.chart svg text').length") > 100


def test_keys_reach_what_a_mouse_does(browser: Browser, page: Path) -> None:
    browser.open(page)
    reached = set()
    for _ in range(60):
        for kind in ("keyDown", "keyUp"):
            browser.send("Input.dispatchKeyEvent", type=kind, key="Tab", windowsVirtualKeyCode=9)
        reached.add(browser.run("document.activeElement.tagName"))
    assert {"INPUT", "A", "SUMMARY", "DIV"} <= reached  # a DIV is a box that scrolls


def test_it_prints(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.open(page, theme="dark")
    browser.print(tmp_path / "lab.pdf")
    assert (tmp_path / "lab.pdf").read_bytes().startswith(b"%PDF")
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert brightness(browser.run("getComputedStyle(document.body).backgroundColor")) > 128
    assert browser.run("getComputedStyle(document.querySelector('.theme')).display") == "none"
    browser.send("Emulation.setEmulatedMedia", media="")
