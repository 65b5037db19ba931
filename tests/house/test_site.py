"""The built documentation in a real browser, from disk: nothing is fetched, search works, it fits.

``make docs`` builds it; where there is no site yet, there is nothing to test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, chromium

SITE = Path(__file__).parents[2] / "site"
CHROMIUM = chromium()
PAGES = (
    "index.html",
    "gallery/index.html",
    "gallery/plot_fourteen_jobs.html",
    "api/kleene.sssp.html",
    "benchmarks.html",
    "lab-results.html",
    "changelog.html",
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(not (SITE / PAGES[2]).exists(), reason="make docs builds the site"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with Browser(CHROMIUM) as started:
        yield started


@pytest.mark.parametrize("page", PAGES)
def test_pages_fetch_nothing_and_fit_a_phone(browser: Browser, page: str) -> None:
    browser.open(SITE / page, 390)
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    logs = ("[PST]", "theme mode")  # what the theme says at every start
    assert [error for error in browser.errors if not any(log in error for log in logs)] == []
    assert browser.run("document.documentElement.scrollWidth") <= 390
    missing = "[...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)"
    assert browser.run(missing) == []


def test_search_works_from_disk(browser: Browser) -> None:
    browser.open(SITE / "search.html", query="?q=isochrones")
    found = "[...document.querySelectorAll('#search-results li a')].map(a => a.textContent)"
    browser.wait(f"{found}.includes('kleene.isochrones')", seconds=30)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_follows_the_system(browser: Browser, theme: str) -> None:
    browser.open(SITE / "index.html", theme=theme)
    browser.wait(f"document.documentElement.dataset.theme === '{theme}'")
