"""Hints as somebody at a shell can follow them: what is a call in Python is an option here.

In: the words of an error, which were written for whoever calls the library. Out: the same in words
of the command line. What has no such words is left as it is.
"""

from __future__ import annotations

import re

__all__ = ["in_shell", "option_of"]

# In this order: what is longer comes before what it holds.
_SAID = (
    (r"open it once without read_only=True", "run a command without --read-only once"),
    (r"open it without read_only=True to write", "leave out --read-only, and RECOLLECT_READ_ONLY"),
    (r"or open with read_only=True", "or put --read-only before the command"),
    (r"leave read_only out", "leave out --read-only, and RECOLLECT_READ_ONLY"),
    (r"pass any_filesystem=True", "set RECOLLECT_ANY_FILESYSTEM=1"),
    (r"with replace=True", "with --replace"),
    (r" A name that a store has already: Principal\(\.\.\., exact=True\)\.", ""),
    (r"ask the one that Recollect\.open gave without a principal", "leave out --key"),
    (r"open it again with Recollect\.open", "run the command again"),
    (r"or open the memory with a longer timeout", "or wait until others are done"),
    (r"decode the text with errors='replace' before you pass it on", "send it as UTF-8"),
    (r"call memory\.hooks\.reload_on_sighup\(\) in it", "start it again"),
    (r"call reload_on_sighup\(\) there, or call reload\(\) yourself", "start it again"),
    (r"strip it: text\.replace\([^)]*\)", "take the zero bytes out"),
    (r"""forget\("\.\.\."\) or forget\(entity="\.\.\."\)""", "name an id, or give --entity"),
    (r"from recollect\.policy import Principal; Principal\([^)]*\)", "give --principal"),
    (r"pass next_cursor of the page before unchanged", "give --cursor as the page before says"),
    (r"pass the key as `api_key`", "RECOLLECT_EMBEDDER_KEY is its key"),
    (r"""update\("p1", content="\.\.\."\)""", "recollect update p1 TEXT"),
    (
        r"list and recall tell the ids of memories\.",
        "`recollect list` and `recollect recall` show ids below the texts; the first 4 characters"
        " of one are enough.",
    ),
    (r"\bkeys\.list names them", "`recollect keys list` names them"),
    (
        r"receipts are kept where they were asked for, for a time, and told to who asked\.",
        "`recollect receipts` names those there are; `recall --receipt` keeps one.",
    ),
    (r"\bcheck the id with get\(\)", "`recollect list` names the ids"),
    (r"\b(gardens|quarantine|keys|trust|frames)\.(\w+)\(\)", r"`recollect \1 \2`"),
    (
        r"\b(remember|recall|get|export|import|forget|list|update|history|supersede)_?\(\)",
        r"`recollect \1`",
    ),
    (r"pass (\w+)=(?:True)? as well", lambda found: f"give {option_of(found[1])} as well"),
    (
        r"""pass (\w+)=["']([^"']*)["'](?: as well)?""",
        lambda found: f"give {option_of(found[1])} {found[2]}",
    ),
    (r"\b(\w+)=(\{[^}]*\})", r'"\1": \2'),
    (r"\b(\w+)=(\[[^\]]*\])", r'"\1": \2'),
    (r"pass a str, a Path, or None", "name a file"),
    (r"""\b(\w+)=["']([^"']*)["']""", lambda found: f"{option_of(found[1])} {found[2]}"),
    (r"`(\w+)=(?:…|\.\.\.)?`", lambda found: f"`{option_of(found[1])}`"),
    (r"\bpass_?(?= )", "give"),
    (r"; an empty one is fine|, or None\b| or None\b", ""),
)
_WORDS = tuple((re.compile(found), said) for found, said in _SAID)
# Fields whose options have another name.
_OPTIONS = {
    "token_budget": "--budget",
    "tags": "--tag",
    "teams": "--team",
    "pak_type": "--type",
    "recency_window_days": "--days",
    "include_superseded": "--superseded",
    "everything": "--all",
    "guarantees": "--guarantee",
    "expires_at": "--expires",
}


def in_shell(text: str) -> str:
    """Return the words of an error as they are followed at a shell."""
    for pattern, said in _WORDS:
        text = pattern.sub(said, text)
    return text


def option_of(name: str) -> str:
    """Return the option that gives a field of a verb."""
    return _OPTIONS.get(name, "--" + name.replace("_", "-"))
