"""Measures: what is left of many searches when the searches themselves are not kept."""
