"""Pieces and tiles on the workers of a Dask cluster."""
