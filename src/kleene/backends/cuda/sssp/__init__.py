"""Loops of searches by weight on a GPU."""
