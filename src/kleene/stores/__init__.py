"""Answers larger than memory, in checked blocks with a ledger."""

__all__ = ["STORE_SUFFIXES"]

#: What names of stores end in.
STORE_SUFFIXES = (".npy", ".zarr")
