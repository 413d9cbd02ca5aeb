"""A question also asks for what its words are called elsewhere: "login" finds "sign-in".

Runs as a daemon on `pre_recall_expand`. The table is one group of words a line, in the file that
SYNONYMS names.
"""

import os
from pathlib import Path

from recollect.hooks.sdk import hook, modify, serve

TABLE = Path(os.environ.get("SYNONYMS", Path(__file__).with_name("synonyms.txt")))
GROUPS = [line.split() for line in TABLE.read_text(encoding="utf-8").splitlines() if line.strip()]
OTHERS = {word: [one for one in group if one != word] for group in GROUPS for word in group}


@hook("pre_recall_expand")
def expand(payload):
    words = payload["query"].lower().replace("?", " ").split()
    more = [other for word in words for other in OTHERS.get(word, ()) if other not in words]
    return modify(query=" ".join([payload["query"], *dict.fromkeys(more)])) if more else None


if __name__ == "__main__":
    serve()
