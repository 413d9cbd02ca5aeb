"""The picture of the sets: every number is in it, and the same numbers are the same picture."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from bench.quality import pictures
from bench.quality.pictures import bars_of, drawn


def run(embedder: str, ours: float, *, peers: bool = True) -> dict[str, Any]:
    rows = [{"name": "recollect", "metrics": {"recall@10": ours}}]
    if peers:
        rows.append({"name": "BM25 <old>", "metrics": {"recall@10": 0.5}})
    return {"embedder": embedder, "sets": [{"name": "notes", "questions": 1_060, "rows": rows}]}


def test_every_row_has_a_bar_as_long_as_its_share() -> None:
    root = ElementTree.fromstring(drawn(bars_of(run("static", 0.75))))
    bars = [one for one in root.iter() if one.tag.endswith("rect") and len(one)]
    widths = [float(one.attrib["width"]) for one in bars]
    assert [one[0].text for one in bars] == ["recollect: 0.750", "BM25 <old>: 0.500"]
    assert widths[1] / widths[0] == pytest.approx(0.5 / 0.75, abs=0.01)
    told = [one.text for one in root.iter() if one.tag.endswith("text")]
    assert {"notes (1,060)", ".750", ".500"} <= set(told)


def test_the_best_of_a_set_is_bold() -> None:
    drawing = drawn(bars_of(run("static", 0.4)))
    bold = re.findall(r"font-weight='bold'[^>]*>([^<]+)<", drawing)
    assert bold == [".500"]


def test_another_embedders_run_is_a_row_beside_ours() -> None:
    (bars,) = bars_of(run("static", 0.75), [run("onnx:/models/mine", 0.9, peers=False)])
    assert list(bars.shares) == ["recollect", "recollect, onnx", "BM25 <old>"]
    assert bars_of(run("static", 0.75), [{"embedder": "minilm", "sets": []}]) == bars_of(
        run("static", 0.75)
    )


def test_the_command_draws_the_same_bytes_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "run.json", tmp_path / "new" / "quality.svg"
    source.write_text(json.dumps(run("static", 0.75)))
    monkeypatch.setattr("sys.argv", ["pictures", str(source), "--out", str(out)])
    pictures.main()
    first = out.read_bytes()
    pictures.main()
    assert out.read_bytes() == first
    assert b"http" not in first.replace(b"http://www.w3.org/2000/svg", b"")
