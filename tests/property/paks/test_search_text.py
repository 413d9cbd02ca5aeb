from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.paks.samples import pak

from recollect.paks import RecallStore

# A busy machine is no reason to fail.
modest = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])

every_character = st.characters(exclude_categories=())
PUNCTUATION = [*"\"'*^:(){}+-\\\0%;", "--", "\ud800"]
OPERATORS = [
    " AND ",
    " OR ",
    " NOT ",
    " NEAR ",
    "NEAR(a b, 2)",
    "title:",
    "- title :",
    "rowid",
    "rank",
]
ODD_WORDS = ["c++ foo.py", '"open', "📦", "👩\u200d👩\u200d👧", "\u0301", "\u200b", "ﷺ", "zebra"]
syntax = st.sampled_from([*PUNCTUATION, *OPERATORS, *ODD_WORDS])
hostile = st.lists(syntax | st.text(every_character, max_size=5), max_size=12).map("".join)
words = st.text(st.characters(categories=["L", "N"], max_codepoint=0x24F), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def zoo() -> Iterator[RecallStore]:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks(
            [
                pak("a", title="zebra AND near"),
                pak("b", title="c++ foo.py"),
                pak("c", title="title"),
            ]
        )
        yield store


@modest
@given(text=hostile | st.text(every_character), match=st.sampled_from(["any", "all"]))
def test_no_text_breaks_a_search(zoo: RecallStore, text: str, match: Any) -> None:
    hits = zoo.search(text, match=match)

    assert {hit.pak.pak_id for hit in hits} <= {"a", "b", "c"}
    assert all(hit.pak == zoo.get_pak(hit.pak.pak_id) for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@modest
@given(before=hostile, after=hostile)
def test_a_word_is_found_among_any_noise(zoo: RecallStore, before: str, after: str) -> None:
    assert "a" in {hit.pak.pak_id for hit in zoo.search(f"{before} zebra {after}")}


@settings(modest, max_examples=8)
@given(piece=hostile.filter(bool), match=st.sampled_from(["any", "all"]))
def test_a_megabyte_of_anything_is_safe(zoo: RecallStore, piece: str, match: Any) -> None:
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]

    hits = zoo.search(text, match=match)

    assert {hit.pak.pak_id for hit in hits} <= {"a", "b", "c"}


@modest
@given(title=st.lists(words, min_size=1, max_size=6).map(" ".join), noise=hostile)
def test_a_pak_is_found_by_the_words_of_its_title(title: str, noise: str) -> None:
    noise = noise.encode(errors="ignore").decode()
    with RecallStore.open(":memory:") as store:
        store.upsert_pak(**pak("wanted", title=f"{title} {noise}"))
        store.upsert_pak(**pak("other", title="—"))

        assert [hit.pak.pak_id for hit in store.search(title, match="all")] == ["wanted"]
        assert [hit.pak.pak_id for hit in store.search(title, match="any")] == ["wanted"]


@modest
@given(
    titles=st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=6), data=st.data()
)
def test_all_is_narrower_than_any(titles: list[list[str]], data: st.DataObject) -> None:
    asked = data.draw(st.lists(st.sampled_from([word for title in titles for word in title])))
    with RecallStore.open(":memory:") as store:
        store.upsert_paks(pak(f"p{at}", title=" ".join(title)) for at, title in enumerate(titles))
        every = {hit.pak.pak_id for hit in store.search(" ".join(asked), match="all")}
        some = {hit.pak.pak_id for hit in store.search(" ".join(asked), match="any")}

        assert every <= some
        for at, title in enumerate(titles):
            if asked and set(asked) <= set(title):
                assert f"p{at}" in every
            if set(asked) & set(title):
                assert f"p{at}" in some
