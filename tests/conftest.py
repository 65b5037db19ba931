"""Shared set-up: Hypothesis runs the same examples every time, and without a deadline."""

from hypothesis import settings

settings.register_profile("kleene", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("kleene")
