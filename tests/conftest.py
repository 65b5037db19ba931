"""Shared set-up: Hypothesis runs the same examples every time, and without a deadline."""

import signal

from hypothesis import settings

settings.register_profile("kleene", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("kleene")

# A shell starts what it puts into the background with Ctrl-C ignored, and nohup ignores SIGHUP;
# tests that send them, here and to programs that they start, want them to work.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
