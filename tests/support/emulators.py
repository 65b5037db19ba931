"""Which emulators were built: wheels have no checked one, and a GPU needs none."""

from __future__ import annotations

from importlib import util

import pytest

EMULATOR = util.find_spec("kleene._emulator") is not None
CHECKED = util.find_spec("kleene._emulator_checked") is not None

needs_emulator = pytest.mark.skipif(not EMULATOR, reason="built without the emulator")
needs_checked = pytest.mark.skipif(not CHECKED, reason="built without the checked emulator")
