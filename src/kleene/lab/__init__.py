"""Experiments, a harness that runs them, and the report about them: ``kleene lab``."""
