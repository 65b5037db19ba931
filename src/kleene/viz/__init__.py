"""Drawings of graphs, paths and distances."""
