"""JSON with comments is edited in place: what is not touched keeps its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.edge.agents import jsonc
from recollect.errors import InvalidInput

VALUE = {"command": "recollect", "args": ["mcp"]}
ODD = [
    "{}",
    "{ }",
    "{\n}\n",
    '{"a": 1}',
    '{"a": 1,}',
    '{\n  "a": 1\n}',
    '{\n  "a": 1,\n}\n',
    '{\r\n\t"a": 1,\r\n\t"b": [1, 2,],\r\n}\r\n',
    '// first\n{\n  // inside\n  "a": 1 // behind\n  /* after */\n}\n// last',
    '{\n  "servers": {}\n}',
    '{\n  "servers": {\n    "other": {"command": "x"}\n  }\n}',
    '{\n  "servers": {\n    "other": {"command": "x"},\n    // the end\n  },\n  "z": null\n}',
    '{"servers": {"other": 1}, "b": "// no comment, and \\" no end }"}',
    '\ufeff{\n    "a": {"b": {}}\n}',
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=6), json_values, max_size=4)


@pytest.mark.parametrize("text", ODD)
def test_what_is_set_is_there_and_what_was_there_stays(text: str) -> None:
    before = jsonc.parse(text).value()
    changed = jsonc.set_value(text, ("servers", "ours"), VALUE)
    after = jsonc.parse(changed).value()
    assert after["servers"].pop("ours") == VALUE
    assert after == {**before, "servers": before.get("servers", {})}
    lines = [line.strip() for line in text.splitlines() if "//" in line and '"//' not in line]
    assert [line for line in lines if line.partition("//")[2] not in changed] == []


@pytest.mark.parametrize("text", ODD)
def test_setting_the_same_again_changes_nothing(text: str) -> None:
    once = jsonc.set_value(text, ("servers", "ours"), VALUE)
    assert jsonc.parse(jsonc.set_value(once, ("servers", "ours"), VALUE)) == jsonc.parse(once)


@pytest.mark.parametrize("text", [one for one in ODD if '"other"' in one])
def test_what_is_added_to_others_and_taken_out_leaves_the_same_bytes(text: str) -> None:
    changed = jsonc.set_value(text, ("servers", "ours"), VALUE)
    assert jsonc.remove(changed, ("servers", "ours")) == text


@given(objects, objects, st.sampled_from([None, 2, "\t"]), json_values)
def test_of_any_object_nothing_but_the_member_changes(
    outer: dict[str, Any], inner: dict[str, Any], indent: Any, value: Any
) -> None:
    whole = {**outer, "servers": {key: one for key, one in inner.items() if key != "ours"}}
    text = json.dumps(whole, indent=indent)
    changed = jsonc.set_value(text, ("servers", "ours"), value)
    assert json.loads(changed) == {**whole, "servers": {**whole["servers"], "ours": value}}
    assert json.loads(jsonc.remove(changed, ("servers", "ours"))) == whole


@given(objects, st.lists(json_values, max_size=3), st.sampled_from([None, 4]), json_values)
def test_an_item_is_added_at_the_end_of_a_list_and_taken_out_by_its_place(
    outer: dict[str, Any], items: list[Any], indent: Any, value: Any
) -> None:
    whole = {**outer, "hooks": {"Stop": items}}
    changed = jsonc.append(json.dumps(whole, indent=indent), ("hooks", "Stop"), value)
    assert json.loads(changed)["hooks"]["Stop"] == [*items, value]
    assert json.loads(jsonc.remove(changed, ("hooks", "Stop", len(items)))) == whole


@given(json_values)
def test_it_reads_what_json_reads(value: Any) -> None:
    assert jsonc.parse(json.dumps(value, indent=1)).value() == value


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[1 2]", '{"a" 1}', "{a: 1}", '{"a": 1} x', "'a'", '{"a": 01}', '{"a": 1,, "b": 2}'),
        *('{"a": "b\n"}', "[" * 5_000, "{,}", "nul", '/* {"a": 1}'),
    ],
)
def test_what_is_no_such_json_is_refused_by_its_line(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"line [0-9]+ cannot be read"):
        jsonc.parse(text)


@pytest.mark.parametrize("text", ["[]", '{"servers": []}', '{"servers": 5}', '"a"'])
def test_a_place_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="where an object is expected"):
        jsonc.set_value(text, ("servers", "ours"), VALUE)


@pytest.mark.parametrize("text", ["", "\n", "// nothing yet\n"])
def test_a_file_with_nothing_in_it_gets_an_object(text: str) -> None:
    changed = jsonc.set_value(text, ("servers", "ours"), VALUE)
    assert jsonc.parse(changed).value() == {"servers": {"ours": VALUE}}
    assert changed.startswith(text.rstrip())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {\n  // none yet\n  "b": 1\n}}\n',
        '{"a": {"b": 1 /* the last */}}',
        '{"a": {\r\n  "b": 1, // why\r\n}}\r\n',
        '{"a": { // c\n "b": 1}}',
    ],
)
def test_taking_the_only_member_out_leaves_the_comments_around_it(text: str) -> None:
    left = jsonc.remove(text, ("a", "b"))
    assert jsonc.parse(left).value() == {"a": {}}
    assert [one for one in ("// none yet", "/* the last */", "// why", "// c") if one in left] == [
        one for one in ("// none yet", "/* the last */", "// why", "// c") if one in text
    ]
