"""Loops of breadth-first searches on a GPU."""
