"""Reading and writing graph files; one module per format.

The formats are imported when a file is first read or written.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.io.files import FORMATS, read, read_with_format, write

__all__ = ["FORMATS", "read", "read_with_format", "write"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kleene.io' has no attribute {name!r}")
    from kleene.io import files  # graphs are often made from arrays

    return getattr(files, name)
