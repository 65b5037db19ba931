"""Prepared graphs on a GPU."""
