"""Colours that differ, also for colour-blind readers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kleene.system.colours import (
    GREY,
    GROUND,
    GROUPS,
    ROUTE,
    band_colours,
    diverging,
    group_colour,
    shade,
)

#: What is seen of linear red, green and blue: Machado, Oliveira and Fernandes 2009, severity 1.
SEEN = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip


def lab(code: str, sight: str) -> np.ndarray:
    """Return CIELAB of a colour as it is seen."""
    channels = np.array([int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(SEEN[sight] @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(one: str, other: str, sight: str) -> float:
    return float(np.linalg.norm(lab(one, sight) - lab(other, sight)))


@pytest.mark.parametrize("sight", SEEN)
def test_twelve_groups_differ(sight: str) -> None:
    """A difference of 2 can just be noticed; eight of Paul Tol's colours keep 14."""
    assert len(set(GROUPS)) == 12
    least = 25 if sight == "normal" else 19
    assert min(apart(one, other, sight) for one, other in combinations(GROUPS, 2)) > least
    for other in (GROUND, GREY, ROUTE):
        assert min(apart(one, other, sight) for one in GROUPS) > 19


@pytest.mark.parametrize("sight", SEEN)
def test_less_and_more_differ(sight: str) -> None:
    for part in (0.25, 0.5, 1.0):
        assert apart(diverging(-part), diverging(part), sight) > 25
        assert apart(diverging(0), diverging(part), sight) > 10
        assert apart(diverging(0), diverging(-part), sight) > 10


def test_scales() -> None:
    assert group_colour(3) == group_colour(15) == GROUPS[3]
    assert band_colours(4) == [shade(0), shade(1 / 3), shade(2 / 3), shade(1)]
    lights = [lab(shade(x), "normal")[0] for x in np.linspace(0, 1, 50)]
    assert (np.diff(lights) > 0).all()
    assert (shade(-1), shade(2)) == (shade(0), shade(1))
