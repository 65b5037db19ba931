"""Groups of options that several commands share, declared once.

An option group is a frozen dataclass whose fields are typer options; a command takes groups as
parameters, and :func:`with_option_groups` presents one flat signature to typer:

    @with_option_groups
    def info(graph: Input, show: Output) -> None: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["with_option_groups", "with_parameters"]


def with_option_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Return the command with its option groups expanded to single options."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(function)
    def command(**options: Any) -> None:
        groups_given: dict[str, Any] = {
            name: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
            if isinstance(kind, type)
        }
        function(**groups_given, **options)

    parameters: list[inspect.Parameter] = []
    for name, own in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _fields(groups[name])
        else:
            parameters.append(
                own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
            )
    return with_parameters(command, parameters)


def _fields(group: Any) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each field of an option group."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=hints[field.name],
        )


def with_parameters(
    function: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """Set the signature of a function of ``**options`` that typer sees."""
    function.__dict__.pop("__wrapped__", None)  # otherwise typer inspects the original
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    return function
