"""Prepared graphs: vertices are eliminated once, then every answer is a climb and a sweep."""
