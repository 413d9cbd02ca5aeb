"""Which clock a measuring process reads: the wall's, or the CPU time of the process.

A ratio of two things that one process does is best taken in CPU time, which others who use the
machine hardly change; a rate or a waiting time is what the wall clock says. The environment names
the clock, because a measuring process is told before it starts. With CPU time numpy has one thread:
the second one waits by spinning, and that would count. Standard library only: peers use it too.
"""

from __future__ import annotations

import os
from time import perf_counter, process_time

__all__ = ["CPU", "WALL", "seconds"]

_NAME = "RECOLLECT_BENCH_CLOCK"
WALL = {_NAME: "wall"}
CPU = {_NAME: "cpu", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

seconds = process_time if os.environ.get(_NAME) == "cpu" else perf_counter
