"""Which emulators were built: wheels have no checked one."""

from __future__ import annotations

from importlib import util

import pytest

CHECKED = util.find_spec("kleene._emulator_checked") is not None

needs_checked = pytest.mark.skipif(not CHECKED, reason="built without the checked emulator")
