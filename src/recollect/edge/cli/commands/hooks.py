"""`recollect hooks …`: see what is configured, try it, and find out what is wrong with it.

In: a file of hooks, and for `test` an event with a payload. Out: what the hooks are, what they
decided, how long they took. No memory is opened.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Json
from recollect.errors import InvalidInput
from recollect.settings import default_hooks_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from recollect.hooks.spec import HookSpec

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Look at the programs that may change or refuse what is done, and try them.",
)

File = Annotated[
    Path | None,
    typer.Option(
        "--hooks",
        metavar="FILE",
        help="The file of hooks. Without it: the one that RECOLLECT_HOOKS names, or hooks.toml in"
        " ~/.recollect.",
        show_default=False,
    ),
]


@app.command("list", epilog="Example: recollect hooks list --hooks hooks.toml")
def list_(
    context: typer.Context,
    file: File = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List the hooks in the order of the file."""
    path, hooks = _loaded(file)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import hooks as view

        console.print(view.table(hooks) if hooks else f"There are no hooks in {path}.")

    output.of(context).show({"file": str(path), "hooks": [_wire(hook) for hook in hooks]}, draw)


@app.command(
    epilog="""Example: recollect hooks test pre_recall_expand --payload '{"query":"tea"}'"""
)
def test(
    context: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event, e.g. pre_remember.")],
    payload: Annotated[
        str,
        typer.Option(
            "--payload", metavar="JSON", help="What the event tells; a sample for what is left out."
        ),
    ] = "{}",
    file: File = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Ask the hooks of an event, as a verb would, and show what they made of it."""
    from recollect.hooks.doctor import payload_of, try_hooks
    from recollect.hooks.events import HookEvent

    _, hooks = _loaded(file)
    if event not in list(HookEvent):
        raise typer.BadParameter(f"'{event}' is none of {', '.join(HookEvent)}.", context)
    result = try_hooks(hooks, payload_of(HookEvent(event), _object(payload)))
    denied = result.denied
    answer = {
        "event": event,
        "action": result.action,
        "payload": dict(result.payload.values),
        "delta": dict(result.delta),
        "denied": {"reason": denied.reason, "code": denied.code} if denied else None,
        "asks": [ask.prompt for ask in result.asks],
        "hooks": [run.to_dict() for run in result.runs],
        "degraded": list(result.degraded),
    }

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import hooks as view

        view.draw_result(console, result)

    output.of(context).show(answer, draw)


@app.command(epilog="Example: recollect hooks reload --pid 4711")
def reload(
    context: typer.Context,
    pid: Annotated[
        int | None,
        typer.Option("--pid", metavar="PID", help="Tell this process to read the file again."),
    ] = None,
    file: File = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Check the file and, with --pid, have a running process take it over.

    The process must have asked for it with `memory.hooks.reload_on_sighup()`.
    """
    path, hooks = _loaded(file)
    if pid is not None:
        _send_sighup(pid)
    told = f" Process {pid} was told to load it." if pid is not None else ""
    output.of(context).show(
        {"file": str(path), "hooks": len(hooks), "pid": pid},
        lambda console: console.print(f"{path} is fine: {_counted(hooks)}.{told}", soft_wrap=True),
    )


@app.command(epilog="Example: recollect hooks doctor --rounds 100")
def doctor(
    context: typer.Context,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds", min=0, max=10_000, metavar="N", help="How often to ask each; 0 only starts."
        ),
    ] = 20,
    file: File = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Start every hook, ask it with a sample, and say how it is; exit 1 if one fails."""
    from dataclasses import asdict

    from recollect.hooks.doctor import examine

    path, hooks = _loaded(file)
    findings = examine(hooks, rounds=rounds)
    well = all(one.problem is None for one in findings)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import hooks as view

        console.print(view.findings(findings) if findings else f"There are no hooks in {path}.")
        view.draw_problems(console, findings)

    output.of(context).show({"ok": well, "hooks": [asdict(one) for one in findings]}, draw)
    if not well:
        raise typer.Exit(1)


def _loaded(file: Path | None) -> tuple[Path, Sequence[HookSpec]]:
    from recollect.hooks.config import load

    path = default_hooks_path() if file is None else file.expanduser()
    if path is None:
        raise InvalidInput(
            "There is no file of hooks.",
            hint="name one with --hooks FILE or RECOLLECT_HOOKS, or put hooks.toml into"
            " ~/.recollect.",
        )
    return path, load(path)


def _wire(hook: HookSpec) -> dict[str, Any]:
    return {
        "hook": hook.name,
        "event": hook.event.value,
        "mode": hook.mode,
        "command": list(hook.command),
        "python": hook.python,
        "priority": hook.priority,
        "timeout_ms": hook.timeout_ms,
        "namespace": hook.namespace,
        "fail_mode": hook.fail_mode,
        "enabled": hook.enabled,
    }


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the payload is no JSON: {error}.", hint='{"query": "tea"}') from error
    if not isinstance(found, dict):
        raise InvalidInput("the payload must be a JSON object.", hint='{"query": "tea"}')
    return found


def _send_sighup(pid: int) -> None:
    """Send the signal, but not to a process that it would end."""
    try:
        caught = _signals_caught(pid)
        if caught is not None and not caught & 1 << (signal.SIGHUP - 1):
            raise InvalidInput(
                f"Process {pid} does not listen to SIGHUP: it would end.",
                hint="call memory.hooks.reload_on_sighup() in it.",
            )
        os.kill(pid, signal.SIGHUP)
    except (ProcessLookupError, OverflowError) as error:
        raise InvalidInput(f"There is no process {pid}.", hint="check its number.") from error
    except PermissionError as error:
        raise InvalidInput(
            f"Process {pid} belongs to somebody else.", hint="run this as its owner."
        ) from error


def _signals_caught(pid: int) -> int | None:
    """Return the set of signals that a process handles itself, None where that is not known."""
    if not Path("/proc/self/status").exists():
        return None
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None
    line = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(line.split()[1], 16)


def _counted(hooks: Sequence[HookSpec]) -> str:
    enabled = sum(hook.enabled for hook in hooks)
    return f"{len(hooks)} {'hook' if len(hooks) == 1 else 'hooks'}, {enabled} enabled"
