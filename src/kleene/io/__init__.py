"""Graphs from files and to files; one file per format."""

from kleene.io.files import FORMATS, read, read_with_format, write

__all__ = ["FORMATS", "read", "read_with_format", "write"]
