"""How good is recall? Labelled questions through the shipped engine, and numbers out.

Load a task, run it, summarise it; keep the outcomes and compare two runs of the same questions.
"""

from recollect.evaluation.beir import load_jsonl
from recollect.evaluation.compare import Change, Comparison, Difference, compare
from recollect.evaluation.locomo import load_locomo
from recollect.evaluation.metrics import judge
from recollect.evaluation.misses import FEW, Miss, misses
from recollect.evaluation.outcomes import SavedRun, digest, read_outcomes, write_outcomes
from recollect.evaluation.report import report, write_report
from recollect.evaluation.runner import DEFAULT_K, Outcome, Run, run
from recollect.evaluation.spreadsheet import write_csv
from recollect.evaluation.summary import Estimate, Summary, summarise
from recollect.evaluation.task import Collection, Item, Question, Task

__all__ = [
    "DEFAULT_K",
    "FEW",
    "Change",
    "Collection",
    "Comparison",
    "Difference",
    "Estimate",
    "Item",
    "Miss",
    "Outcome",
    "Question",
    "Run",
    "SavedRun",
    "Summary",
    "Task",
    "compare",
    "digest",
    "judge",
    "load_jsonl",
    "load_locomo",
    "misses",
    "read_outcomes",
    "report",
    "run",
    "summarise",
    "write_csv",
    "write_outcomes",
    "write_report",
]
