"""Shared set-up: Hypothesis runs the same examples every time, and without a deadline."""

import signal

from hypothesis import settings

settings.register_profile("kleene", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("kleene")

# A shell starts what it puts into the background with Ctrl-C ignored; tests that press it, here and
# in programs that they start, want it to work.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
