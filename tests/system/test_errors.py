"""Fields of errors, which surfaces render in their own words, and which survive pickling."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import kleene as kl
from kleene import errors
from kleene.errors import Code, Text, message_of, reworded

KINDS = [
    kind
    for name in errors.__all__
    if isinstance(kind := getattr(errors, name), type)
    and issubclass(kind, kl.KleeneError)
    and kind not in (kl.NegativeCycleError, kl.StorageError)
]


def example(kind: Any) -> Any:
    return kind(
        Code("limit"),
        " must not be negative, but is -1",
        advice=[Text("pass ", Code("limit=None"), " for none"), "wait"],
    )


def dashed(code: Code) -> str | None:
    return f"--{code.name}" if code.name == "limit" else None


def test_a_text_is_a_string_that_knows_its_code() -> None:
    inner = Text(Code("limit="), " or ", Code("kleene.sssp"))
    text = Text("use ", inner, "")
    assert text == "use limit= or kleene.sssp"
    assert text.parts == ("use ", "limit=", " or ", "kleene.sssp", "")
    assert [(code.name, code.value) for code in text.codes] == [("limit", ""), ("", "")]
    assert text.option == "limit"
    assert Text("limit=3").option is None
    assert text.reworded(dashed) == "use --limit or kleene.sssp"
    assert text.reworded(dashed).codes == ("kleene.sssp",)
    for again in (pickle.loads(pickle.dumps(text)), copy.deepcopy(text)):
        assert again == text
        assert again.codes == text.codes
    assert Text.joined(", or ", ["a", Code("b=1")]) == "a, or b=1"
    assert Text.joined(", or ", []) == ""
    assert (Code("k=3").value, Code("f(k=3)").name) == ("3", "")


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_fields_that_are_pickled(kind: Any) -> None:
    error = example(kind)
    for same in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(same) is kind
        assert same.problem == "limit must not be negative, but is -1"
        assert same.option == "limit"
        assert same.advice == (("limit", "pass limit=None for none"), (None, "wait"))
        assert str(same) == str(error)
        assert str(same).endswith("pass limit=None for none, or wait")
        assert same.args == (str(error),)
        assert reworded(same, dashed).startswith("--limit must not be negative, but is -1; ")
        assert reworded(same, dashed).endswith("pass --limit for none, or wait")


@pytest.mark.parametrize("kind", [*KINDS, kl.NegativeCycleError, kl.StorageError])
def test_errors_are_pickled_by_tblib(kind: Any) -> None:
    """Dask installs it: it makes errors by ``__new__`` that do not say how they are made."""
    support = pytest.importorskip("tblib.pickling_support")
    others: dict[Any, Any] = {
        kl.NegativeCycleError: lambda: kl.NegativeCycleError([3, 4]),
        kl.StorageError: lambda: kl.StorageError(28, "No space left", "d.npy"),
    }
    error = others.get(kind, lambda: example(kind))()
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = {kind: support.pickle_exception}
    pickler.dump(error)
    same = pickle.loads(file.getvalue())
    assert type(same) is kind
    assert str(same) == str(error)
    assert same.__dict__ == error.__dict__
    assert same.problem.codes == error.problem.codes


def test_advice_without_words_on_a_surface_is_left_out() -> None:
    error = kl.RequestError("give ", Code("on="), advice=[Code("limit=1"), Code("out='d.npy'")])
    assert str(error) == "give on=; limit=1, or out='d.npy'"
    assert reworded(error, dashed) == "give on=; --limit"
    assert reworded(error, lambda code: None) == "give on="


def test_a_plain_message_stays_as_it_is() -> None:
    error = kl.RequestError("give either {} or %s, limit=3")
    assert str(error) == error.problem == message_of(error) == "give either {} or %s, limit=3"
    assert (error.option, error.advice) == (None, ())
    assert str(kl.GraphError()) == ""
    assert isinstance(error, ValueError)


def test_errors_with_arguments_of_their_own() -> None:
    cycle = kl.NegativeCycleError([3, 4])
    again = pickle.loads(pickle.dumps(cycle))
    assert again.cycle == [3, 4]
    assert (
        str(again)
        == str(cycle)
        == (
            "the graph has a negative cycle: 3 -> 4 -> 3. Shortest paths through it have no lower "
            "bound; the error's .cycle lists its vertices"
        )
    )
    assert reworded(cycle, dashed).endswith("have no lower bound")
    full = pickle.loads(pickle.dumps(kl.StorageError(28, "No space left", "d.npy")))
    assert (full.errno, full.strerror, full.filename) == (28, "No space left", "d.npy")
    assert str(full) == message_of(full) == "[Errno 28] No space left: 'd.npy'"


def test_memory_that_is_needed_and_available() -> None:
    error = kl.MemoryBudgetError("too large", advice=[Code("limit=1")], needed=9, available=5)
    error = pickle.loads(pickle.dumps(error))
    assert (error.needed, error.available) == (9, 5)
    assert str(error) == "too large; what makes it fit: limit=1"
    assert kl.MemoryBudgetError("too large").needed == 0


@pytest.mark.parametrize(
    ("option", "arguments"),
    [
        ("method", {"method": "magic"}),
        ("device", {"device": "magic"}),
        ("device", {"device": "cuda:x"}),
        ("dtype", {"dtype": "magic"}),
        ("limit", {"limit": "far"}),
        ("threads", {"threads": 0}),
        ("out", {"out": 3}),
        ("options", {"method": "blocked", "device": "cpu", "options": {"side": 3}}),
    ],
)
def test_errors_of_a_call_name_the_argument(option: str, arguments: dict[str, Any]) -> None:
    ends = {"sources": [0, 1]} | arguments
    with pytest.raises(kl.KleeneError) as caught:
        kl.apsp(kl.generate.path(3), **ends)
    assert caught.value.option == option
