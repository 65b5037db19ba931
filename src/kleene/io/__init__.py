"""Reading and writing graph files; one module per format."""

from kleene.io.files import FORMATS, read, read_with_format, write

__all__ = ["FORMATS", "read", "read_with_format", "write"]
