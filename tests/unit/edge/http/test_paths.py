from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from recollect.edge.http.paths import Paths


async def _one(_: Request) -> Response:
    return Response()


async def _other(_: Request) -> Response:
    return Response()


def _paths() -> Paths:
    paths = Paths()
    paths.add(
        [
            ("/v1/memories", {"POST": _one}),
            ("/v1/memories/many", {"POST": _other}),
            ("/v1/memories/{pak_id}", {"GET": _one, "DELETE": _one}),
            ("/memories/{pak_id}.json", {"GET": _one}),
            ("/memories/{pak_id}", {"GET": _other}),
        ]
    )
    return paths


def test_a_path_that_names_something_comes_before_one_that_takes_any_name() -> None:
    assert _paths().find("/v1/memories/many", "POST") == (_other, {})
    assert _paths().find("/v1/memories/many", "GET") == (_one, {"pak_id": "many"})


def test_of_two_that_fit_the_first_answers() -> None:
    assert _paths().find("/memories/a.json", "GET") == (_one, {"pak_id": "a"})
    assert _paths().find("/memories/a.jsons", "GET") == (_other, {"pak_id": "a.jsons"})
    # A point is a point.
    assert _paths().find("/memories/a-json", "GET") == (_other, {"pak_id": "a-json"})


def test_a_name_is_one_segment_and_never_empty() -> None:
    assert _paths().find("/v1/memories/a/b", "GET") is None
    assert _paths().find("/v1/memories/", "GET") is None
    assert _paths().find("/v1/memories/%2F", "GET") == (_one, {"pak_id": "%2F"})


def test_a_path_is_meant_with_a_slash_more_or_less() -> None:
    assert _paths().beside("/v1/memories/") == "/v1/memories"
    assert _paths().beside("/v1/nothing/") is None
