"""Messages for a name that is not there: the names that are, and the one that was meant."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "no_such"]


#: Names that people use for ours.
_ALSO_CALLED = {
    "gpu": "cuda",
    "nvidia": "cuda",
    "host": "cpu",
    "tropical": "min_plus",
    "shortest": "min_plus",
    "reachability": "boolean",
    "or_and": "boolean",
    "widest": "max_min",
    "bottleneck": "max_min",
    "reliability": "max_times",
}


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question with the nearest of the known names; "" if none is near.

    >>> did_you_mean("djikstra", ["dijkstra", "bellman_ford"])
    "did you mean 'dijkstra'?"
    >>> did_you_mean("gpu", ["cuda", "cpu"])
    "did you mean 'cuda'?"
    """
    from difflib import get_close_matches

    if not isinstance(name, str) or not name:
        return ""
    asked, names = _plain(name), {_plain(k): k for k in known}
    near = [_ALSO_CALLED.get(asked, ""), *get_close_matches(asked, names, n=1, cutoff=0.7)]
    near += [k for k in names if len(asked) > 2 and k.startswith(asked)]
    found = next((names[k] for k in near if k in names), None)
    return "" if found is None else f"did you mean {found!r}?"


def no_such(what: str, name: object, known: Iterable[str], where: str = "") -> str:
    """Return the message for an unknown name: what was asked, a near name, and all that exist.

    >>> no_such("device", "cudda", ["cuda", "cpu"])
    "no device 'cudda'; did you mean 'cuda'? There are 'cuda', 'cpu'"
    """
    known = list(known)
    if not known:
        return f"no {what} {name!r}{where}; there are none"
    question = did_you_mean(name, known)
    there = f"here are {', '.join(map(repr, known))}"
    return f"no {what} {name!r}{where}; " + (f"{question} T{there}" if question else f"t{there}")


def _plain(name: str) -> str:
    """Return a name as it is compared: case, hyphens and spaces make no difference."""
    return name.lower().replace("-", "_").replace(" ", "_")
