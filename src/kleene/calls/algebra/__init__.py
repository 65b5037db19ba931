"""Calls on matrices and vectors over a semiring: no graph is searched."""
