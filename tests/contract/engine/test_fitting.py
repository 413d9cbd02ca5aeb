"""Nothing fits is an answer: each result says how well it matches, and may be asked to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.edge.cli.demo_memory import fill
from recollect.edge.cli.views.recall import is_all_weak, nothing
from recollect.errors import InvalidInput

NONSENSE = (
    "purple elephants negotiate quantum spaghetti",
    "asdf qwer zxcv",
    "How many moons does the pancake licence?",
    "Was kostet ein Kamel auf dem Mars?",
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    path: Path = tmp_path_factory.mktemp("shop") / "shop.db"
    with fill(path) as memory:
        yield memory


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_is_answered_with_what_is_weak_and_reads_like_it(
    shop: Recollect, query: str
) -> None:
    answer = shop.recall(query)

    assert answer.results
    assert is_all_weak(answer)
    for one in answer.results:
        assert re.fullmatch(r"hardly matches the question \(0\.\d\d\)", one.why[0])


@pytest.mark.parametrize(
    ("query", "pak_id"),
    [
        ("how do we deploy", "team-deploy-window"),
        ("refund", "payments-refund-window"),
        ("Card payment timed out: send it again?", "payments-retry-limit"),
    ],
)
def test_what_answers_a_question_is_strong(shop: Recollect, query: str, pak_id: str) -> None:
    answer = shop.recall(query)

    assert (answer.results[0].fact.pak_id, answer.results[0].match) == (pak_id, "strong")
    assert not is_all_weak(answer)
    assert not any(reason.startswith("hardly") for reason in answer.results[0].why)


def test_without_a_question_nothing_matches_or_fails_to(shop: Recollect) -> None:
    assert {one.match for one in shop.recall(None).results} == {None}


def test_blocks_of_a_frame_say_it_too(shop: Recollect) -> None:
    framed = shop.frame("attention", "how do we deploy")

    assert {block.pak_id: block.match for block in framed.blocks}["team-deploy-window"] == "strong"
    assert all("match" in block for block in framed.to_dict()["blocks"])


def test_what_scores_too_little_is_left_out_and_named(shop: Recollect) -> None:
    every = shop.recall("refund")
    enough = shop.recall("refund", min_score=every.results[1].score)

    assert enough.results == every.results[:2]
    left_out = {one.pak_id: one for one in enough.dropped if one.stage == "min_score"}
    assert set(left_out) >= {one.fact.pak_id for one in every.results[2:]}
    assert {one.reason for one in left_out.values()} == {f"scores below {every.results[1].score:g}"}
    told = shop.explain(every.results[2].fact.pak_id, "refund")
    assert told.returned


def test_an_answer_may_be_empty_for_that_reason_and_says_so(shop: Recollect) -> None:
    answer = shop.recall(NONSENSE[0], min_score=0.3)

    assert answer.results == ()
    assert "none scores enough" in nothing(answer, 32)
    assert shop.frame("attention", "how do we deploy", min_score=1.0).text == ""


def test_what_a_frame_guarantees_needs_no_score(shop: Recollect) -> None:
    guaranteed = [one for one in shop.frame("task", "ship it").blocks if one.guaranteed]

    kept = shop.frame("task", "ship it", min_score=1.0).blocks
    assert guaranteed
    assert {one.pak_id for one in kept} == {one.pak_id for one in guaranteed}


@pytest.mark.parametrize("value", [-0.1, 1.1, "0.5", True, float("nan")])
def test_a_least_score_is_a_share(shop: Recollect, value: object) -> None:
    with pytest.raises(InvalidInput, match="min_score"):
        shop.recall("refund", min_score=value)  # type: ignore[arg-type]


def test_a_reason_names_a_word_once_and_nothing_that_did_not_count(shop: Recollect) -> None:
    (first, *_) = shop.recall("why is the storefront server-rendered").results

    assert first.fact.pak_id == "storefront-server-pages"
    assert first.why[0].count("server-rendered") == 1
    for query in ("how do we deploy", "refund", "Card payment timed out: send it again?"):
        for one in shop.recall(query).results:
            assert not any(
                reason.startswith(("well connected", "reinforced")) for reason in one.why
            )


def test_an_answer_matches_as_well_as_the_best_of_it(shop: Recollect) -> None:
    assert shop.recall("refund").match == "strong"
    assert shop.recall(NONSENSE[0]).match == "weak"
    assert shop.recall(None).match is None
    assert shop.recall("refund").to_dict()["match"] == "strong"


@pytest.mark.parametrize("least", ["weak", "fair", "strong"])
def test_what_fits_less_well_than_asked_for_is_left_out_and_named(
    shop: Recollect, least: str
) -> None:
    every = shop.recall("refund", top_k=20)
    enough = shop.recall("refund", top_k=20, min_match=least)  # type: ignore[arg-type]
    wanted = ("weak", "fair", "strong")[("weak", "fair", "strong").index(least) :]
    kept = [one.fact.pak_id for one in every.results if one.match in wanted]
    assert [one.fact.pak_id for one in enough.results] == kept
    left_out = {one.pak_id for one in enough.dropped if one.stage == "min_match"}
    assert left_out >= {one.fact.pak_id for one in every.results if one.match not in wanted}


def test_nothing_may_be_the_answer(shop: Recollect) -> None:
    answer = shop.recall(NONSENSE[0], min_match="fair")
    assert (answer.results, answer.match) == ((), None)
    assert nothing(answer, 32).startswith("Nothing matches well")
    assert shop.frame("attention", NONSENSE[0], min_match="strong").blocks == ()


def test_without_a_question_there_is_nothing_to_match(shop: Recollect) -> None:
    assert len(shop.recall(None, min_match="strong").results) == 5


def test_another_word_is_refused(shop: Recollect) -> None:
    with pytest.raises(InvalidInput, match="min_match"):
        shop.recall("refund", min_match="good")  # type: ignore[arg-type]


@pytest.mark.parametrize("others", [0, 1, 5, 12])
def test_a_tiny_store_says_as_well_what_fits(others: int) -> None:
    texts = ("tea", "rain", "clay", "wool", "ink", "rice", "sand", "salt", "oak", "iron", "gold")
    with Recollect.open("memory://") as memory:
        memory.remember("The kiln is booked until May.", pak_id="kiln")
        memory.remember_many(f"Something about {one}." for one in (*texts, "milk")[:others])
        best = memory.recall("when is the kiln booked?").results[0]
        assert (best.fact.pak_id, best.match) == ("kiln", "strong")
        assert memory.recall("The kiln is booked until May.").match == "strong"
        assert memory.recall("purple elephants negotiate spaghetti").match in ("weak", None)
