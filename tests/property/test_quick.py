"""A plain recall is read like any other: what the quick way takes, the long way reads the same."""

from __future__ import annotations

from typing import Any

import typer
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.edge.cli import quick
from recollect.edge.cli.app import app
from recollect.edge.cli.output import Output

RECALL: Any = typer.main.get_command(app).commands["recall"]  # type: ignore[attr-defined]
FLAGS = [flag for one in RECALL.params for flag in one.opts if flag.startswith("--")]
WORDS = st.one_of(
    st.sampled_from([*FLAGS, "tea", "who?", "", "-", "--", "-h", "-x", "--unknown", "7", "1001"]),
    st.sampled_from(["0", "-1", "0.5", ".5", "5.", "1e3", "1_0", " 5", "٣", "nan", "strong", "b"]),
    st.builds("{}={}".format, st.sampled_from(FLAGS), st.sampled_from(["", "3", "x=y", "-z"])),
    st.text(max_size=4),
)


def read_by_the_long_way(arguments: list[str]) -> tuple[dict[str, Any], bool]:
    out = Output()
    params = RECALL.make_context("recall", list(arguments), obj=out).params
    # None of several is an empty tuple there; the command gets None.
    lists = {
        name: list(value) or None for name, value in params.items() if isinstance(value, tuple)
    }
    return {**params, **lists}, out.as_json


@given(st.lists(WORDS, max_size=7))
@example(["tea", "--top-k", "3", "--tag", "a", "--tag=b", "--json", "please"])
@example(["--min-score", "0.25", "--min-match=fair", "--budget", "80", "--signals"])
def test_what_the_quick_way_reads_the_long_way_reads_too(arguments: list[str]) -> None:
    plain = quick.read(["recall", *arguments])
    if plain is None:
        return
    options, as_json = read_by_the_long_way(arguments)
    assert options.pop("as_json") == as_json == plain.as_json
    assert options == plain.options


def test_every_option_of_a_recall_is_plain_and_has_the_same_default() -> None:
    options, _ = read_by_the_long_way([])
    plain = quick.read(["recall"])
    assert plain is not None
    assert options == {**plain.options, "as_json": False}


def test_what_is_not_plain_is_left_to_the_long_way() -> None:
    for arguments in (
        [],
        ["remember", "tea"],
        ["--json", "recall", "tea"],
        ["recall", "--help"],
        ["recall", "--db"],
        ["recall", "--db", "--json"],
        ["recall", "--top-k", "0"],
        ["recall", "--top-k", "many"],
        ["recall", "--min-match", "superb"],
        ["recall", "--nonsense"],
        ["recall", "--", "-x"],
    ):
        assert quick.read(arguments) is None
