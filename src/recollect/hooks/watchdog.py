"""A tiny process that kills what we started, should we be gone before we could.

In: the ids of process groups, as they come and go. Out: nothing, as long as this process lives.
When it dies, in whatever way, the watchdog's stdin ends; it gives the groups a second to go by
themselves, since their stdin ended too, and kills what is left. It is nobody's child and needs no
more than a POSIX shell.
"""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import suppress

__all__ = ["Watchdog"]

_SCRIPT = """
exec 3<&0
{
    groups=" "
    while read -r sign group; do
        case $sign in
            +) groups="$groups$group " ;;
            -) groups="${groups%% $group *} ${groups#* $group }" ;;
        esac
    done
    if [ "$groups" != " " ]; then
        sleep 1
        for group in $groups; do kill -s KILL -- "-$group"; done
    fi
} <&3 3<&- >/dev/null 2>&1 &
"""


class Watchdog:
    """What outlives us by a second, to clean up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._write_end = -1
        try:
            read_end, self._write_end = os.pipe()
        except OSError:
            return  # out of descriptors: children still see the end of their stdin
        os.set_blocking(self._write_end, False)
        try:
            # The shell itself is back at once; what it left in the background reads the pipe.
            subprocess.run(  # noqa: S603
                ["/bin/sh", "-c", _SCRIPT],
                stdin=read_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath},
                cwd="/",
                start_new_session=True,
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            pass  # children still see the end of their stdin
        finally:
            os.close(read_end)

    def guard(self, group: int) -> None:
        """Take a group into its care."""
        self._tell(f"+ {group}\n")

    def release(self, group: int) -> None:
        """Let go of a group that is about to be reaped."""
        self._tell(f"- {group}\n")

    def close(self) -> None:
        """Send the watchdog home; everything it guards must be gone."""
        with self._lock:
            if self._write_end >= 0:
                os.close(self._write_end)
            self._write_end = -1

    def _tell(self, line: str) -> None:
        with self._lock, suppress(OSError):
            if self._write_end >= 0:
                os.write(self._write_end, line.encode())
