"""A text that looks as if it held a secret is not remembered.

Runs on `pre_remember`, one process a call; with `fail_mode = "closed"`, a guard that cannot answer
refuses too. The reason names the kind of secret, never the secret.
"""

import re

from recollect.hooks.sdk import deny, hook, serve

SECRETS = {
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "an access key id": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token": r"\b(?:ghp|gho|ghs|xox[abp]|sk|pk)[-_][0-9A-Za-z_-]{16,}\b",
    "a JSON web token": r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}\b",
    "a password": r"(?i)\b(?:password|passwd|secret)\s*[:=]\s*\S{6,}",
}


@hook("pre_remember")
def guard(payload):
    texts = [payload["content"], payload["title"], payload["summary"], payload["value"]]
    for kind, pattern in SECRETS.items():
        if any(re.search(pattern, text) for text in texts if text):
            return deny(f"the text seems to hold {kind}", 422)
    return None


if __name__ == "__main__":
    serve()
