"""Betweenness on a GPU."""
