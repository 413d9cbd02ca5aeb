"""The process that a client waits for at a hook: 300 ms before a prompt, and no longer.

In: the words of the command line, the client's JSON on stdin. Out: the answer's JSON, if there is
one in time, and an end that is always well. A child of it answers and keeps what was said. This
one loads next to nothing and touches no file, so that neither a server nor a disk holds it up.
"""

from __future__ import annotations

import os
import select
import time
from typing import NamedTuple, NoReturn

__all__ = ["PATIENCE_S", "Asked", "Waiting", "hook", "read"]

# So long a prompt waits for us, the start of this process included.
PATIENCE_S = 0.3
# Of that, for the way from the child and out.
_WAY_BACK_S = 0.015
# However late it is, what a client says is read if it says it now.
_LEAST_READ_S = 0.05
# Of what Linux tells of a process behind its name: when it was started, in ticks since the boot.
_STARTED = 19
# What nobody waits for is given up after this, whatever holds it.
_MOST_ALIVE_S = 120
_MOST_BYTES = 64_000_000
_AT_ONCE = 65_536
_BEFORE_A_PROMPT = ("session-start", "SessionStart", "user-prompt-submit", "UserPromptSubmit")
_TAKEN = b"1"


class Asked(NamedTuple):
    """What was typed."""

    event: str = ""
    client: str | None = None
    tools: bool = False
    db: str | None = None
    embedder: str | None = None
    url: str | None = None
    key: str | None = None
    read_only: bool = False


# What takes a value, and what does not; of what is not known a hook makes nothing.
_VALUES = ("--client", "--db", "--embedder", "--url", "--key")
_SWITCHES = ("--tools", "--read-only")


def read(words: list[str]) -> Asked | None:
    """Return what the words ask of a hook, None if they are another command or ask for help."""
    told: dict[str, str | bool] = {}
    named: list[str] = []
    rest = iter(words)
    for word in rest:
        flag, is_joined, joined = word.partition("=")
        if word in ("-h", "--help"):
            return None
        if flag in _VALUES:
            told[flag[2:]] = joined if is_joined else next(rest, "")
        elif word in _SWITCHES:
            told[word[2:].replace("-", "_")] = True
        elif not word.startswith("-"):
            named.append(word)
    if named[:1] != ["hook"]:
        return None
    return Asked(event=next(iter(named[1:]), ""), **told)  # type: ignore[arg-type]


class Waiting:
    """Whoever waits for an answer, as the process sees it that gives one."""

    def __init__(self, began: float, saying: int, hearing: int, *, is_waited_for: bool) -> None:
        self.began = began
        self.is_waited_for = is_waited_for
        self.patience_s = PATIENCE_S - _WAY_BACK_S
        self._saying = saying
        self._hearing = hearing

    def have_patience(self, seconds: float) -> None:
        """Ask whoever waits to wait for so long since the beginning."""
        self.patience_s = seconds - _WAY_BACK_S
        self._tell(f"{int(1000 * seconds)}\n".encode())

    @property
    def left_s(self) -> float:
        """So long there is until an answer must leave."""
        return self.began + self.patience_s - time.monotonic()

    def say(self, answer: str) -> bool:
        """Give the answer, one line; return whether it was taken."""
        if not self.is_waited_for or not self._tell(answer.encode() + b"\n"):
            return False
        return os.read(self._hearing, 1) == _TAKEN

    def _tell(self, line: bytes) -> bool:
        try:
            _write(self._saying, line)
        except BrokenPipeError:
            return False
        return True


def hook(asked: Asked) -> NoReturn:
    """Answer an event in time, or not at all; what is kept is kept by a process of its own."""
    began = time.monotonic() - _since_start_s()
    try:
        _hook(asked, began)
    except BaseException:  # noqa: BLE001 - a hook that fails must not stop a prompt
        os._exit(0)
    os._exit(0)


def _since_start_s() -> float:
    """Return how long this process has been there: what the interpreter took to start counts."""
    try:
        with open("/proc/self/stat", "rb") as told:  # noqa: PTH123 - there is no Path loaded for it
            fields = told.read().rpartition(b")")[2].split()
        started = int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
        lived = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        lived = -1.0
    # Where the system does not tell, or tells of another clock: at least what it computed so far.
    return lived if 0 <= lived <= _MOST_ALIVE_S else time.process_time()


def _hook(asked: Asked, began: float) -> None:
    given = _given(max(began + PATIENCE_S, time.monotonic() + _LEAST_READ_S))
    is_waited_for = asked.event in _BEFORE_A_PROMPT
    (answer, saying), (hearing, taken) = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(answer)
        os.close(taken)
        _be_nobodys()
        from recollect.edge.agents.process import answer_event

        waiting = Waiting(began, saying, hearing, is_waited_for=is_waited_for)
        answer_event(asked, given, waiting)
        os._exit(0)
    os.close(saying)
    os.close(hearing)
    if is_waited_for and (told := _line_in_time(answer, began)):
        _write(1, told)
        _write(taken, _TAKEN)


def _be_nobodys() -> None:
    """Leave whoever waits: hold none of their streams, and go on when they are gone."""
    import signal

    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_MOST_ALIVE_S)


def _given(until: float) -> bytes:
    """Return what stdin holds to its end, or what came of it in time."""
    given = bytearray()
    try:
        if os.isatty(0):
            return b""
        while len(given) < _MOST_BYTES and select.select([0], [], [], _left(until))[0]:
            part = os.read(0, _AT_ONCE)
            if not part:
                break
            given += part
    except OSError:
        pass
    return bytes(given)


def _line_in_time(answer: int, began: float) -> bytes:
    """Return the line that an answer is, nothing if there is none in time."""
    told, until = b"", began + PATIENCE_S
    while select.select([answer], [], [], _left(until))[0]:
        part = os.read(answer, _AT_ONCE)
        if not part:
            break
        told += part
        first, ended, rest = told.partition(b"\n")
        if ended and first.isdigit():
            until, told = began + int(first) / 1000, rest
        if told.endswith(b"\n"):
            return told
    return b""


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())


def _write(stream: int, held: bytes) -> None:
    left = memoryview(held)
    while left:
        left = left[os.write(stream, left) :]
