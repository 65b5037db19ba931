"""Options that several commands share, declared once.

A bundle is a frozen dataclass whose fields are typer options; a command takes bundles as
parameters, and :func:`with_option_groups` shows typer one flat signature:

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
    """Return the command with its bundles spread out into single options."""
    hints = get_type_hints(function, include_extras=True)
    bundles = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(function)
    def command(**options: Any) -> None:
        made: dict[str, Any] = {
            name: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for name, kind in bundles.items()
            if isinstance(kind, type)
        }
        function(**made, **options)

    parameters: list[inspect.Parameter] = []
    for name, own in inspect.signature(function).parameters.items():
        if name in bundles:
            parameters += _fields(bundles[name])
        else:
            parameters.append(
                own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
            )
    return with_parameters(command, parameters)


def _fields(bundle: Any) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each field of a bundle."""
    hints = get_type_hints(bundle, include_extras=True)
    for field in fields(bundle):
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
    """Give a function of ``**options`` the signature that typer is to see."""
    function.__dict__.pop("__wrapped__", None)  # or typer would look through to the original
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    return function
