"""Experiments, a harness that runs them, and the report about them: ``kleene lab``.

A package beside Kleene that uses its public names only.
"""
