"""Quality beside the simple rows: the same texts, the same yardstick, and who is ahead is said."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.peer import PeerUnavailable
from bench.peers.bm25 import BM25
from bench.quality import __main__ as command
from bench.quality import rows, simple
from bench.quality.rows import Ahead, SetResult, allowed, beside_simple, judged, keeps_up
from bench.quality.sets import KNOWN, found_sets
from bench.quality.table import ahead_lines, show
from rich.console import Console

from recollect.evaluation import Collection, Item, Question, Task

TEXTS = {
    "glaze": "Glazes dry for two days; drying longer does no harm.",
    "kiln": "The kiln is booked until May.",
    "kiln-two": "The kiln is booked until May.",
    "tax": "The tax return is due in July.",
}


def task(*questions: Question) -> Task:
    items = [Item({"pak_id": name, "content": text}, name) for name, text in TEXTS.items()]
    return Task("small", (Collection("small", tuple(items), questions),))


def question(name: str, gold: str, category: str | None = None) -> Question:
    return Question(name, f"What about the {gold}?", {gold: 1}, category)


def numbers(*found: float) -> list[dict[str, float]]:
    return [{"recall@10": one, "mrr": one / 2} for one in found]


def result(ours: list[float], theirs: list[float]) -> SetResult:
    questions = [question(f"q{number}", "kiln") for number in range(len(ours))]
    return judged(task(*questions), {"recollect": numbers(*ours), "peer": numbers(*theirs)})


def test_the_columns_of_bm25_find_what_the_textbook_finds() -> None:
    textbook = BM25(TEXTS)
    for asked in ("drying glaze", "is the kiln booked", "tax tax kiln", "nothing of it"):
        (found,) = simple.searched(TEXTS, [asked], 3)["stemmed BM25"]
        assert found == textbook.search(asked, 3)


def test_a_sum_adds_deviations_and_equal_scores_add_nothing() -> None:
    assert simple.standardised(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]
    assert simple.standardised(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]


def test_the_cosine_and_the_sum_answer_questions_without_a_shared_word() -> None:
    answers = simple.searched(TEXTS, ["pottery oven"], 4)
    assert answers["stemmed BM25"] == [[]]
    assert sorted(answers["static cosine"][0]) == sorted(TEXTS)
    assert answers["BM25 + cosine (z-sum)"] == answers["static cosine"]


def test_a_row_that_is_ahead_is_named_with_its_p() -> None:
    found = result([0.0] * 8 + [1.0] * 12, [1.0] * 20)
    assert found.ahead[0] == Ahead("peer", "recall@10", 0.4, found.ahead[0].p)
    assert found.ahead[0].p < 0.02
    assert [one.metric for one in found.ahead] == ["recall@10", "mrr"]
    assert not keeps_up(found)
    assert beside_simple(found) < 1
    line = next(iter(ahead_lines([found])))
    assert line.startswith("small, recall@10: peer by 0.400 (p 0.0")
    assert line.endswith("MORE THAN .01 OR A QUESTION")


def test_one_question_is_allowed_and_two_are_not() -> None:
    one, two = result([0.0, *[1.0] * 59], [1.0] * 60), result([0.0, 0.0, *[1.0] * 58], [1.0] * 60)
    assert keeps_up(one)
    assert beside_simple(one) >= 1
    assert not keeps_up(two)
    assert beside_simple(two) < 1
    assert allowed(replace(one, questions=1_000)) == pytest.approx(0.01, abs=1e-5)


def test_nobody_is_ahead_of_the_better() -> None:
    found = result([1.0, 1.0], [0.0, 1.0])
    assert found.ahead == ()
    assert keeps_up(found)


def test_kinds_of_questions_have_means_of_their_own() -> None:
    asked = task(question("a", "kiln", "hard"), question("b", "tax", "easy"))
    found = judged(asked, {"recollect": numbers(0.0, 1.0)})
    assert found.ours.categories["easy"]["recall@10"] == 1.0
    assert found.ours.categories["hard"]["recall@10"] == 0.0


def test_a_peer_that_cannot_be_installed_is_a_row_less(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise PeerUnavailable("Cannot install bm25s.\nlong story")

    monkeypatch.setattr(rows, "_with_bm25s", fails)
    found = rows.measured(task(question("a", "kiln")))
    assert [one.name for one in found.rows] == ["recollect", *simple.ROWS]
    assert found.absent == {"bm25s": "Cannot install bm25s."}
    screen = io.StringIO()
    show([found], Console(file=screen, width=140))
    assert "bm25s is missing: Cannot install bm25s." in screen.getvalue()
    assert "small (1)" in screen.getvalue()


def test_answers_of_the_library_are_kept_by_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "CACHE", tmp_path)
    calls: list[list[str]] = []

    def run(command: list[str], **_: object) -> None:
        calls.append(command)
        told = json.loads(Path(command[-2]).read_text())
        answers = [[["tax"] for _ in one["questions"]] for one in told["collections"]]
        Path(command[-1]).write_text(json.dumps(answers))

    monkeypatch.setattr(rows, "python_with", lambda *_: Path("python"))
    monkeypatch.setattr("subprocess.run", run)
    for _ in range(2):
        found, absent = rows.simply(task(question("a", "tax")))
        assert (found["bm25s"][0]["recall@10"], absent) == (1.0, {})
    rows.simply(task(question("a", "kiln")))
    assert len(calls) == 2


def test_the_repositorys_own_sets_are_always_there_and_others_are_said(tmp_path: Path) -> None:
    found = found_sets(tmp_path)
    assert [one.name for one in found.tasks] == ["notes", "pages"]
    assert set(found.absent) == set(KNOWN) - {"notes", "pages"}
    assert found_sets(tmp_path, ["elsewhere"]).absent == ("elsewhere",)


def test_sets_are_found_two_levels_deep_whatever_they_are_called(tmp_path: Path) -> None:
    inner = tmp_path / "more" / "mine"
    inner.mkdir(parents=True)
    (inner / "corpus.jsonl").write_text('{"_id": "a", "text": "The kiln is booked."}')
    (inner / "queries.jsonl").write_text('{"_id": "q", "text": "Is the kiln free?"}')
    (inner / "qrels.tsv").write_text("q\ta\t1\n")
    found = found_sets(tmp_path, ["mine"])
    assert [one.name for one in found.tasks] == ["mine"]


def test_the_command_prints_json_and_its_exit_code_says_who_keeps_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    behind = result([0.0] * 3, [1.0] * 3)
    for given, code in ((behind, 1), (result([1.0], [1.0]), 0)):
        monkeypatch.setattr(command, "measured", lambda *_, given=given, **__: given)
        arguments = ["quality", "--json", "--only", "notes", "--only", "gone"]
        monkeypatch.setattr("sys.argv", [*arguments, "--sets", str(tmp_path)])
        with pytest.raises(SystemExit) as ended:
            command.main()
        assert int(ended.value.code or 0) == code
        told = json.loads(capsys.readouterr().out)
        assert told["absent"] == ["gone"]
        assert told["sets"][0]["rows"][0]["name"] == "recollect"
