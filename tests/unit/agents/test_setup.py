"""A client is set up and taken back: the same bytes, whatever its files were like."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.edge.agents.clients import CLIENTS, Folders, Server, is_ours
from recollect.edge.agents.jsonc import parse
from recollect.edge.agents.setup import Machine, apply, is_set_up, plan_install, plan_uninstall
from recollect.errors import InvalidInput

SERVER = Server("/opt/recollect", (), ("--db", "/data/agent.db"), {})
clients = pytest.mark.parametrize("name", CLIENTS)
JSON_CLIENTS = [name for name, one in CLIENTS.items() if one.form == "json"]

ODD_JSON = [
    b"",
    b"{}",
    b"{}\n",
    b'{"theme": "dark"}',
    b'\xef\xbb\xbf{\r\n  "a": 1,\r\n}\r\n',
    b'// mine\n{\n\t"a": [1, 2, /* three */],\n\t"b": {"c": "d"}, // why\n}\n',
    b'{"mcpServers": {"other": {"command": "x"}}, "servers": {}, "context_servers": {}}',
    '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say \u00e4"}]}]}}'.encode(),
]
ODD_TOML = [
    b"",
    b'model = "x" # mine\n',
    b'\xef\xbb\xbfmodel = "x"\r\n[a]\r\nb = 1\r\n',
    b'[mcp_servers.other]\ncommand = "x"\nargs = [\n  "a", # one\n]\n\n[z]\n',
    b'mcp_servers = { other = { command = "x" } }\n',
]


def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "home", tmp_path / "state", "linux", lambda _: None)


def files(client: Any, on: Machine) -> list[Path]:
    hooks = [] if client.hooks_file is None else [client.hooks_file(on.folders)]
    return [client.file(on.folders), *hooks]


def held(root: Path) -> dict[str, bytes | None]:
    return {
        str(one.relative_to(root)): one.read_bytes() if one.is_file() else None
        for one in sorted(root.rglob("*"))
    }


def set_up(name: str, on: Machine, **more: Any) -> Any:
    plan = plan_install(CLIENTS[name], SERVER, on, **{"hooks": True, "tools": False, **more})
    if not plan.is_empty:
        apply(plan, on)
    return plan


def take_back(name: str, on: Machine) -> Any:
    plan = plan_uninstall(CLIENTS[name], on)
    if not plan.is_empty:
        apply(plan, on)
    return plan


def odd_files(client: Any) -> list[bytes]:
    return ODD_TOML if client.form == "toml" else ODD_JSON


@clients
def test_where_there_was_nothing_there_is_nothing_again(name: str, tmp_path: Path) -> None:
    on = machine(tmp_path)
    on.home.mkdir()
    set_up(name, on)
    assert is_set_up(CLIENTS[name], on) == (True, CLIENTS[name].hooks_file is not None)
    take_back(name, on)
    assert is_set_up(CLIENTS[name], on) == (False, False)
    assert [one for one in held(on.home).values() if one is not None] == []


@clients
def test_whatever_a_file_was_like_it_is_given_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]
    for number, content in enumerate(odd_files(client)):
        on = machine(tmp_path / str(number))
        for path in files(client, on):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if path.suffix != ".json" or client.form == "json" else b"{}")
        before = held(on.home)
        set_up(name, on)
        assert is_set_up(client, on)[0]
        assert held(on.home) != before
        take_back(name, on)
        assert held(on.home) == before


@clients
def test_what_others_wrote_stays_while_it_is_set_up(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]
    for number, content in enumerate(odd_files(client)):
        on = machine(tmp_path / str(number))
        path = client.file(on.folders)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        set_up(name, on)
        text = path.read_bytes().decode("utf-8-sig")
        read = tomllib.loads if client.form == "toml" else lambda one: parse(one).value()
        was = read(content.decode("utf-8-sig")) if content else {}
        now = read(text)
        holder = now
        for key in client.keys:
            holder = holder[key]
        assert holder.pop("recollect")["command"] == "/opt/recollect"
        for key in now.keys() & was.keys():
            assert now[key] == was[key]
        for comment in (b"mine", b"three", b"why", b"# one"):
            assert (comment in content) <= (comment in path.read_bytes())


@clients
def test_setting_up_twice_is_setting_up_once(name: str, tmp_path: Path) -> None:
    on = machine(tmp_path)
    on.home.mkdir()
    set_up(name, on)
    once = held(on.home)
    assert set_up(name, on).is_empty
    assert held(on.home) == once
    take_back(name, on)
    assert take_back(name, on).is_empty


@clients
def test_a_file_that_was_edited_since_loses_our_entry_and_nothing_else(
    name: str, tmp_path: Path
) -> None:
    client, on = CLIENTS[name], machine(tmp_path)
    path = client.file(on.folders)
    path.parent.mkdir(parents=True)
    path.write_bytes(odd_files(client)[3])
    set_up(name, on)
    more = b"\n# edited\n" if client.form == "toml" else b"\n// edited\n"
    path.write_bytes(path.read_bytes() + more)
    take_back(name, on)
    assert is_set_up(client, on) == (False, False)
    assert b"edited" in path.read_bytes()
    assert b"/opt/recollect" not in path.read_bytes()


@clients
@pytest.mark.parametrize("content", [b"{nonsense", b"\xff\xfe\x00", b"[1, 2", b'"a" = = 1'])
def test_a_file_that_cannot_be_read_is_refused_and_nothing_is_changed(
    name: str, content: bytes, tmp_path: Path
) -> None:
    client, on = CLIENTS[name], machine(tmp_path)
    for path in files(client, on):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    before = held(tmp_path)
    with pytest.raises(InvalidInput, match=r"UTF-8|no JSON|no TOML"):
        set_up(name, on)
    assert held(tmp_path) == before


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_second_file_that_cannot_be_read_leaves_the_first_as_it_was(
    name: str, tmp_path: Path
) -> None:
    client, on = CLIENTS[name], machine(tmp_path)
    hooks = files(client, on)[1]
    hooks.parent.mkdir(parents=True)
    hooks.write_bytes(b"{nonsense")
    with pytest.raises(InvalidInput, match=hooks.name):
        set_up(name, on)
    assert not files(client, on)[0].exists()


def test_a_file_that_may_not_be_written_is_refused_and_nothing_is_changed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        on = machine(Path(folder))
        path = CLIENTS["claude-code"].file(on.folders)
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}")
        path.chmod(0o444)
        path.parent.chmod(0o555)
        on.state.mkdir()
        on.state.chmod(0o777)
        before, nobody = held(on.home), 65_534
        if os.geteuid() == 0:
            os.seteuid(nobody)
        try:
            with pytest.raises(InvalidInput, match="nothing was changed"):
                set_up("claude-code", on)
        finally:
            os.seteuid(os.getuid())
        path.parent.chmod(0o755)
        assert held(on.home) == before


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    on = machine(tmp_path)
    CLIENTS["cursor"].file(on.folders).mkdir(parents=True)
    with pytest.raises(InvalidInput, match="cannot be read"):
        set_up("cursor", on)


@clients
def test_a_link_stays_a_link_and_rights_stay_as_they_were(name: str, tmp_path: Path) -> None:
    client, on = CLIENTS[name], machine(tmp_path)
    real = tmp_path / "dotfiles" / "settings"
    real.parent.mkdir()
    real.write_bytes(odd_files(client)[1])
    real.chmod(0o640)
    path = client.file(on.folders)
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    set_up(name, on)
    assert path.is_symlink() and b"/opt/recollect" in real.read_bytes()
    take_back(name, on)
    assert path.is_symlink() and real.read_bytes() == odd_files(client)[1]
    assert real.stat().st_mode & 0o777 == 0o640


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(JSON_CLIENTS),
    st.dictionaries(
        st.sampled_from(["a", "mcpServers", "servers", "hooks", "context_servers"]),
        st.dictionaries(st.text(max_size=4), st.lists(st.just({"hooks": []})) | st.just({}))
        | st.just({}),
        max_size=4,
    ),
    st.sampled_from([None, 1, 4, "\t"]),
)
def test_any_file_is_given_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: Any, indent: Any
) -> None:
    client, on = CLIENTS[name], machine(tmp_path_factory.mktemp("any"))
    for path in files(client, on):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=indent))
    before = held(on.home)
    try:
        set_up(name, on)
    except InvalidInput:
        assert held(on.home) == before
        return
    set_up(name, on, tools=True)
    take_back(name, on)
    assert held(on.home) == before


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_hooks_of_others_stay_and_ours_are_there_once(name: str, tmp_path: Path) -> None:
    client, on = CLIENTS[name], machine(tmp_path)
    path = files(client, on)[1]
    path.parent.mkdir(parents=True)
    other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "say done"}]}
    path.write_text(json.dumps({"hooks": {"Stop": [other], "Mine": [other]}}, indent=2))
    set_up(name, on)
    set_up(name, on, tools=True)
    told = json.loads(path.read_text())["hooks"]
    assert told["Stop"][0] == other and len(told["Stop"]) == 2
    assert told["Mine"] == [other]
    assert len(told["UserPromptSubmit"]) == len(told["PostToolUse"]) == 1
    path.write_text(path.read_text().replace("say done", "say well done"))
    take_back(name, on)
    left = json.loads(path.read_text())["hooks"]
    assert left.keys() == {"Stop", "Mine"} and "well" in str(left["Stop"])


def test_a_clients_own_command_is_used_where_there_is_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    program = tmp_path / "claude"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\n')
    program.chmod(0o755)
    on = Machine(home, tmp_path / "state", "linux", lambda _: str(program))
    set_up("claude-code", on)
    said = (tmp_path / "said").read_text()
    assert said == "mcp add --scope user recollect -- /opt/recollect mcp --db /data/agent.db\n"
    assert not (home / ".claude.json").exists()
    assert "on_hook" in (home / ".claude/settings.json").read_text()


CHOSEN = {
    "claude-code": ("CLAUDE_CONFIG_DIR", (".claude.json", "settings.json")),
    "codex": ("CODEX_HOME", ("config.toml", "hooks.json")),
    "claude-desktop": ("XDG_CONFIG_HOME", ("Claude/claude_desktop_config.json",)),
    "vscode": ("XDG_CONFIG_HOME", ("Code/User/mcp.json",)),
    "zed": ("XDG_CONFIG_HOME", ("zed/settings.json",)),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_client_is_set_up_where_its_own_variable_says(tmp_path: Path, name: str) -> None:
    variable, wanted = CHOSEN[name]
    usual, elsewhere = machine(tmp_path), tmp_path / "elsewhere"
    there = replace(usual, chosen={variable: elsewhere})
    set_up(name, usual)
    before = held(tmp_path / "home")
    set_up(name, there)
    assert {*wanted} == {one for one, text in held(elsewhere).items() if text is not None}
    take_back(name, there)
    # What is set up in one folder is not taken back by who takes it back in another.
    assert held(elsewhere) == {} and held(tmp_path / "home") == before
    take_back(name, usual)
    assert [one for one in held(tmp_path / "home").values() if one is not None] == []


def test_a_mac_asks_no_variable_of_a_desktop(tmp_path: Path) -> None:
    at = Folders(tmp_path, "darwin", {"XDG_CONFIG_HOME": tmp_path / "x"})
    assert CLIENTS["zed"].file(at) == tmp_path / ".config/zed/settings.json"
    vscode = CLIENTS["vscode"].file(at)
    assert vscode == tmp_path / "Library/Application Support/Code/User/mcp.json"


def test_a_command_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\necho broken > {home}/.claude.json\necho no >&2\nexit 3\n")
    program.chmod(0o755)
    on = Machine(home, tmp_path / "state", "linux", lambda _: str(program))
    with pytest.raises(InvalidInput, match="failed: no"):
        set_up("claude-code", on)
    assert [one for one in held(home).values() if one is not None] == []


def test_copies_are_for_their_owner_alone(tmp_path: Path) -> None:
    on = machine(tmp_path)
    path = CLIENTS["cursor"].file(on.folders)
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"token": "a"}')
    (copy,) = apply(plan_install(CLIENTS["cursor"], SERVER, on, hooks=True, tools=False), on)
    assert copy.read_bytes() == b'{"token": "a"}'
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700


def test_a_server_elsewhere_is_named_before_the_command(tmp_path: Path) -> None:
    on = machine(tmp_path)
    remote = Server("/opt/recollect", ("--url", "http://127.0.0.1:8377"), (), {"A": "b c"})
    apply(plan_install(CLIENTS["claude-code"], remote, on, hooks=True, tools=False), on)
    told = json.loads((on.home / ".claude.json").read_text())["mcpServers"]["recollect"]
    assert told["args"] == ["--url", "http://127.0.0.1:8377", "mcp"]
    hooks = json.loads((on.home / ".claude/settings.json").read_text())["hooks"]
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    assert command == (
        "env 'A=b c' /opt/recollect --url http://127.0.0.1:8377 hook session-start"
        " --client claude-code"
    )


@clients
def test_what_somebody_wrote_since_the_plan_is_not_written_over(name: str, tmp_path: Path) -> None:
    on = machine(tmp_path)
    plan = plan_install(CLIENTS[name], SERVER, on, hooks=True, tools=False)
    file = CLIENTS[name].file(on.folders)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"# theirs" if CLIENTS[name].form == "toml" else b'{"theirs": 1}')
    before = held(tmp_path)
    with pytest.raises(InvalidInput, match="changed meanwhile"):
        apply(plan, on)
    assert held(tmp_path) == before


@clients
def test_two_who_set_up_at_once_are_one(name: str, tmp_path: Path) -> None:
    on = machine(tmp_path)
    on.home.mkdir()
    plans = [plan_install(CLIENTS[name], SERVER, on, hooks=True, tools=False) for _ in range(2)]
    for plan in plans:
        apply(plan, on)
    assert plan_install(CLIENTS[name], SERVER, on, hooks=True, tools=False).is_empty
    take_back(name, on)
    assert set(held(on.home).values()) <= {None}


def test_servers_of_codex_that_are_no_table_are_refused(tmp_path: Path) -> None:
    on = machine(tmp_path)
    file = CLIENTS["codex"].file(on.folders)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"mcp_servers = 3\n")
    with pytest.raises(InvalidInput, match="holds no table"):
        plan_install(CLIENTS["codex"], SERVER, on, hooks=True, tools=False)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("/opt/recollect hook session-start --client claude-code", True),
        ("env A=b '/my own/bin/recollect' hook session-end --client codex --db x", True),
        ("uvx --from 'recollect[mcp]' recollect hook pre-compact --client claude-code", True),
        ("cd /src/recollect && git hook run pre-push", False),
        ("/src/recollect/tools/notify hook session-start", False),
        ("lefthook run", False),
    ],
)
def test_a_hook_of_another_program_is_not_taken_for_ours(command: str, ours: bool) -> None:
    assert is_ours({"type": "command", "command": command}) is ours
