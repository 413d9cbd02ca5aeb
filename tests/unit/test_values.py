"""Values of ours beside the standard library's: the same classes, made by both, cannot be told."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import pytest

from recollect import values
from recollect.model import Place, Principal, Weights

Thing = TypeVar("Thing")
Decorator = Callable[..., Any]


class Family(NamedTuple):
    """The same classes under one decorator."""

    point: Any
    rich: Any
    child: Any
    keyed: Any
    nothing: Any
    held: Any
    same: Any
    identity: Any


def _family(dataclass: Decorator) -> Family:
    @dataclass(frozen=True, slots=True)
    class Point:
        """Two numbers."""

        x: int
        y: int = 2

        @property
        def total(self) -> int:
            return self.x + self.y

    @dataclass(frozen=True, slots=True)
    class Rich:
        """Each kind of field."""

        name: str
        tags: list[str] = dataclasses.field(default_factory=list, hash=False)
        secret: str = dataclasses.field(default="s", repr=False, compare=False)
        size: int = dataclasses.field(init=False)
        fixed: int = dataclasses.field(init=False, default=7)
        made: dict[str, int] = dataclasses.field(init=False, default_factory=dict, compare=False)
        late: int = dataclasses.field(default=1, kw_only=True, metadata={"unit": "s"})

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", len(self.name))

    @dataclass(frozen=True, slots=True)
    class Child(Point):
        """A point with a name, whose default for x is another."""

        x: int = 5
        name: str = "c"

    @dataclass(frozen=True, slots=True, eq=False, kw_only=True)
    class Keyed:
        """Names only."""

        left: int
        right: int = 0

    @dataclass(frozen=True, slots=True)
    class Nothing:
        """No field."""

    @dataclass(frozen=True, slots=True)
    class Held(Generic[Thing]):
        """What is of a kind to be said."""

        thing: Thing

    @dataclass(frozen=True, slots=True)
    class Same:
        """Says itself how it is shown, and when two are equal."""

        one: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 11

        def __repr__(self) -> str:
            return "the same"

    @dataclass(frozen=True, slots=True, eq=False)
    class Identity:
        """Equal to itself alone."""

        one: int

    return Family(Point, Rich, Child, Keyed, Nothing, Held, Same, Identity)


OURS, THEIRS = _family(values.dataclass), _family(dataclasses.dataclass)
MAKERS: Mapping[str, Callable[[Family], Any]] = {
    "by order": lambda of: of.point(1, 3),
    "by name": lambda of: of.point(y=4, x=1),
    "by default": lambda of: of.point(1),
    "every kind of field": lambda of: of.rich("n", ["a"], late=3),
    "every default": lambda of: of.rich("n"),
    "inherited": lambda of: of.child(name="d"),
    "inherited, by order": lambda of: of.child(1, 2, "e"),
    "by name alone": lambda of: of.keyed(left=1),
    "of nothing": lambda of: of.nothing(),
    "of a kind": lambda of: of.held("h"),
    "with methods of its own": lambda of: of.same(1),
    "known by itself": lambda of: of.identity(1),
}
made_by_both = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@made_by_both
def test_the_first_and_the_later_ones_are_what_the_standard_library_makes(
    make: Callable[[Family], Any],
) -> None:
    for _ in range(20):
        ours, theirs = make(OURS), make(THEIRS)
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        assert dataclasses.astuple(ours) == dataclasses.astuple(theirs)
        assert repr(ours) == repr(theirs)


@made_by_both
def test_the_first_of_a_class_are_filled_like_later_ones(make: Callable[[Family], Any]) -> None:
    new = _family(values.dataclass)
    first, *later = [dataclasses.astuple(make(new)) for _ in range(20)]
    assert all(one == first for one in later)


@made_by_both
def test_fields_signature_and_hints_are_the_same(make: Callable[[Family], Any]) -> None:
    ours, theirs = type(make(OURS)), type(make(THEIRS))
    described = [
        [
            (one.name, one.type, one.init, one.repr, one.compare, one.hash, one.kw_only)
            for one in dataclasses.fields(of)
        ]
        for of in (ours, theirs)
    ]
    assert described[0] == described[1]
    assert [one.metadata for one in dataclasses.fields(ours)] == [
        one.metadata for one in dataclasses.fields(theirs)
    ]
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert ours.__annotations__ == theirs.__annotations__
    assert (ours.__name__, ours.__qualname__) == (theirs.__name__, theirs.__qualname__)
    assert ours.__doc__ == theirs.__doc__
    assert dataclasses.is_dataclass(ours)


@made_by_both
def test_equality_and_hash_are_the_same(make: Callable[[Family], Any]) -> None:
    ours, theirs = make(OURS), make(THEIRS)
    assert (ours == make(OURS)) == (theirs == make(THEIRS))
    assert ours != theirs or type(ours) is OURS.same
    assert ours.__class__.__eq__(ours, theirs) in (NotImplemented, True)
    if type(theirs) not in (THEIRS.keyed, THEIRS.identity):
        assert _hash_of(ours) == _hash_of(theirs)


def _hash_of(value: Any) -> int | str:
    try:
        return hash(value)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((), {}),
        ((1, 2, 3), {}),
        ((1,), {"x": 1}),
        ((1,), {"z": 1}),
        ((), {"y": 1}),
        ((1, 2), {"z": 1}),
    ],
)
def test_what_is_missing_or_too_much_is_refused_in_the_same_words(
    given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    said = []
    for point in (_family(values.dataclass).point, OURS.point, THEIRS.point):
        with pytest.raises(TypeError) as refused:
            point(*given, **named)
        said.append(str(refused.value))
    assert len(set(said)) == 1


@made_by_both
def test_nothing_is_set_or_deleted(make: Callable[[Family], Any]) -> None:
    said: list[list[str]] = []
    for family in (OURS, THEIRS):
        value = make(family)
        said.append([])
        for name in [one.name for one in dataclasses.fields(value)]:
            for change, given in ((setattr, (name, 1)), (delattr, (name,))):
                with pytest.raises(dataclasses.FrozenInstanceError) as refused:
                    change(value, *given)
                said[-1].append(str(refused.value))
    assert said[0] == said[1]
    # Of these two the standard library says something else in some releases of Python.
    with pytest.raises(dataclasses.FrozenInstanceError):
        make(OURS).unheard_of = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        del make(OURS).unheard_of


def test_who_inherits_without_being_a_value_has_attributes_beside_the_fields() -> None:
    class Marked(OURS.point):  # type: ignore[misc, name-defined]
        pass

    marked = Marked(1)
    marked.seen = True
    assert marked.seen
    del marked.seen
    with pytest.raises(dataclasses.FrozenInstanceError):
        marked.x = 2


def test_copies_and_changed_copies_are_values_too() -> None:
    value = OURS.rich("n", ["a"], late=3)
    assert copy.copy(value) == value
    deep = copy.deepcopy(value)
    assert deep == value
    assert deep.tags is not value.tags
    other = dataclasses.replace(value, name="longer")
    assert (other.name, other.size, other.late) == ("longer", 6, 3)
    assert value.__replace__(late=4).late == 4
    with pytest.raises(ValueError, match="size"):
        dataclasses.replace(value, size=1)


def test_a_pickle_gives_the_same_value() -> None:
    for value in (Place("acme", "ann"), Weights(0.2, 0.2, 0.2, 0.2, 0.2), Principal("acme", "ann")):
        assert pickle.loads(pickle.dumps(value)) == value


def test_a_pattern_takes_fields_by_order() -> None:
    match OURS.point(1, 3):
        case OURS.point(x, y):
            assert (x, y) == (1, 3)
        case _:
            pytest.fail("the pattern did not match")


def test_a_value_that_holds_itself_is_shown() -> None:
    held: list[Any] = []
    value = OURS.held(held)
    held.append(value)
    assert repr(value).endswith("Held(thing=[...])")


def test_the_standard_library_makes_a_class_of_one_of_ours() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Grown(OURS.point):  # type: ignore[misc, name-defined]
        """A point with more."""

        z: int = 9

    assert dataclasses.asdict(Grown(1)) == {"x": 1, "y": 2, "z": 9}
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):

        @dataclasses.dataclass
        class _Mutable(OURS.point):  # type: ignore[misc, name-defined]
            """Not frozen."""


def test_what_is_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="no fields"):

        @values.dataclass(frozen=True, slots=True)
        class _Shared:
            """One number for all."""

            count: typing.ClassVar[int] = 1


def test_what_is_not_frozen_is_the_standard_librarys() -> None:
    @values.dataclass(slots=True)
    class Counter:
        """A number that moves."""

        count: int = 0

    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


def test_a_class_that_nobody_uses_compiles_nothing() -> None:
    program = """
import builtins, sys
compiled = []
real = builtins.exec
def watched(source, *rest):
    if isinstance(source, str):
        compiled.append(source)
    return real(source, *rest)
builtins.exec = watched
from recollect.values import dataclass

@dataclass(frozen=True, slots=True)
class Value:
    one: int

assert compiled == []
assert [Value(n).one for n in range(16)] == [*range(16)]
assert compiled == [], "few are filled by hand"
assert (Value(17).one, len(compiled)) == (17, 1)
assert (Value(18).one, len(compiled)) == (18, 1)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
