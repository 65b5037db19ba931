"""Graphs from files and to files; one file per format."""

from kleene.io.files import FORMATS, read, write

__all__ = ["FORMATS", "read", "write"]
