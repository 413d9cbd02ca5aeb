"""Write down what the HTTP door promises, once something was added to it.

Run `python -m tools.openapi`. What was promised before and is no longer there fails a test first.
"""

from __future__ import annotations

import json
from pathlib import Path

from recollect.edge.http.openapi import document

PROMISED = Path(__file__).parent.parent / "tests/data/openapi.json"


def main() -> None:
    """Write the document of today."""
    PROMISED.write_text(json.dumps(document(), indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
