"""Secrets out of a text: what looks like a key, a token or a password is replaced by its kind.

In: a text that somebody typed, an agent said or a tool printed. Out: the same with `[redacted:
KIND]` in place of each secret. A table of shapes, no clock, no file; redacting twice changes
nothing. What is no secret (words, git hashes, UUIDs, checksums, paths) is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

__all__ = ["redact"]

_MARK = "[redacted:"
# At the start of a word: a shape inside of a longer one is something else.
_START = r"(?<![A-Za-z0-9_-])"

# Shapes that issuers chose so that they can be told: kind, what it begins with and goes on like.
_KNOWN = (
    ("anthropic key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai key", r"sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]*[A-Za-z0-9]{20,}"),
    ("google key", r"AIza[A-Za-z0-9_-]{35}"),
    ("google token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("google secret", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("github token", r"gh[oprsu]_[A-Za-z0-9]{30,}"),
    ("github token", r"github_pat_[A-Za-z0-9_]{30,}"),
    ("gitlab token", r"gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_.-]{20,}"),
    ("slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("slack token", r"xapp-[A-Za-z0-9-]{20,}"),
    ("stripe key", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("webhook secret", r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("aws key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("hugging face token", r"hf_[A-Za-z0-9]{30,}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("pypi token", r"pypi-[A-Za-z0-9_-]{50,}"),
    ("sendgrid key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("twilio key", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("mailgun key", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("digitalocean token", r"do[opr]_v1_[0-9a-f]{64}"),
    ("shopify token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("linear key", r"lin_api_[A-Za-z0-9]{32,}"),
    ("notion token", r"ntn_[A-Za-z0-9]{40,}"),
    ("telegram token", r"\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    ("databricks token", r"dapi[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("vault token", r"hv[bs]\.[A-Za-z0-9_-]{24,}"),
    ("groq key", r"gsk_[A-Za-z0-9]{32,}"),
    ("replicate token", r"r8_[A-Za-z0-9]{32,}"),
    ("xai key", r"xai-[A-Za-z0-9]{32,}"),
    ("perplexity key", r"pplx-[A-Za-z0-9]{32,}"),
    ("postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("recollect key", r"rk_[A-Za-z0-9]{6,}[._][A-Za-z0-9_-]{20,}"),
    ("web token", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)
# Words whose value is nobody's business, as the end of a name: db_password, API-KEY, authToken.
_NAME = (
    r"(?:pass(?:word|wd|phrase)|pwd|passwort|secret|token|credentials?"
    r"|(?:api|access|private|secret|account|encryption|signing|master|auth)[_-]?key)"
)
_NAMED = re.compile(
    rf"(?P<name>(?<![A-Za-z0-9])[A-Za-z0-9_.-]{{0,60}}?{_NAME}(?![A-Za-z0-9_]))"
    r"""(?P<between>["']?[ \t]{0,8}(?::=|=>|[=:])[ \t]{0,8})"""
    r"""(?P<value>"[^"\n]{1,4000}"|'[^'\n]{1,4000}'|[^\s"',;)}\]]{1,4000})""",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"(?P<name>(?<!\S)--[a-z0-9-]{{0,40}}?{_NAME})(?P<between>[ \t]+)"
    r"""(?P<value>"[^"\n]{1,4000}"|'[^'\n]{1,4000}'|[^\s"']{1,4000})""",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"(?P<name>\b(?:password|passphrase|passwort|api key|secret key|access token))"
    r"(?P<between>\s+(?:is|was|ist|lautet|to)\s+)"
    r"""(?P<value>"[^"\n]{1,400}"|'[^'\n]{1,400}'|`[^`\n]{1,400}`|[^\s"'`]{6,400})""",
    re.IGNORECASE,
)
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
)
_BEARER = re.compile(r"(?P<before>\b(?:Bearer|Basic|Token)\s+)(?P<value>[A-Za-z0-9._~+/=-]{12,})")
_IN_URL = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,200}:)[^\s/@]{1,400}(?=@)")
_WEBHOOK = re.compile(r"(?P<before>https://hooks\.slack\.com/(?:services|workflows)/)[\w/]{16,}")
_CURL_USER = re.compile(
    r"""(?P<before>(?<!\S)(?:-u|--user)[ =]["']?[^\s:"']{1,100}:)[^\s"'\[][^\s"']{2,}"""
)
_LONG = re.compile(r"(?<![A-Za-z0-9_/+.-])[A-Za-z0-9_+/-]{32,512}={0,2}(?![A-Za-z0-9_+/=-])")
_CHECKSUM = re.compile(r"(?:sha\d+|md5|SHA\d+)[-:_]", re.IGNORECASE)
_ISSUED = tuple((kind, re.compile(_START + shape)) for kind, shape in _KNOWN)

# What stands for a value and is none: names of types, nothing at all, what is filled in elsewhere.
_NO_VALUE = frozenset(
    (
        *("none", "null", "nil", "true", "false", "undefined", "str", "string", "bytes", "int"),
        *("bool", "required", "optional", "missing", "empty", "redacted", "hidden", "unset"),
        *("secret", "password", "token", "changeme", "example", "placeholder", "your", "the"),
    )
)
_ELSEWHERE = ("$", "<", "{", "%", "*", "[", "(", "&", "@", "...", "\u2026", "xxx", "os.")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]+)*[?!:]?")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")
_LEAST_LOUD = 3


def redact(text: str) -> str:
    """Return a text without its secrets."""
    text = _PEM.sub(f"{_MARK} private key]", text)
    for kind, shape in _ISSUED:
        text = shape.sub(f"{_MARK} {kind}]", text)
    text = _WEBHOOK.sub(_after("webhook"), text)
    text = _IN_URL.sub(_after("password"), text)
    text = _CURL_USER.sub(_after("password"), text)
    text = _BEARER.sub(_bearer, text)
    text = _NAMED.sub(_named, text)
    text = _OPTION.sub(_named, text)
    text = _SPOKEN.sub(_spoken, text)
    return _LONG.sub(_long, text)


def _after(kind: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found['before']}{_MARK} {kind}]"


def _bearer(found: re.Match[str]) -> str:
    if not any(one.isdigit() for one in found["value"]):
        return found[0]  # "Bearer authentication", "Basic understanding"
    return f"{found['before']}{_MARK} token]"


def _named(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    quote = value[0] if value[0] in "\"'" else ""
    inner = value.strip("\"'")
    if _says_nothing(inner) or (not quote and _is_code(name, found["between"], inner)):
        return found[0]
    return f"{name}{found['between']}{quote}{_MARK} {_kind_of(name)}]{quote}"


def _spoken(found: re.Match[str]) -> str:
    value = found["value"].strip("\"'`").rstrip(".,;:!?")
    is_quoted = found["value"][0] in "\"'`"
    has_sign = any(one.isdigit() or not one.isalnum() for one in value.strip("-"))
    if _says_nothing(value) or (not is_quoted and value.replace("-", "").isalpha()):
        return found[0]
    if not is_quoted and not (has_sign and any(one.isdigit() for one in value)):
        return found[0]
    return f"{found['name']}{found['between']}{_MARK} {_kind_of(found['name'])}]"


def _says_nothing(value: str) -> bool:
    """Return whether what stands in the place of a value is no value."""
    plain = value.strip().casefold()
    return len(plain) < _LEAST_LOUD or plain in _NO_VALUE or plain.startswith(_ELSEWHERE)


def _is_code(name: str, between: str, value: str) -> bool:
    """Return whether a bare value is a name or a call of a program, and not what it stands for.

    `PASSWORD=hunter` is an assignment of a shell; `token: string` and `secret = load()` are code.
    """
    if _CALL.match(value):
        return True
    is_shell = name == name.upper() and between == "="
    if _IDENTIFIER.fullmatch(value):
        return not is_shell
    # A sentence goes on after its colon: "Token: see the wiki."
    return between.strip() == ":" and not any(one.isdigit() for one in value) and value.isalpha()


def _kind_of(name: str) -> str:
    lower = name.lower()
    for word in ("password", "passphrase", "passwort", "secret", "token", "credential"):
        if word in lower:
            return "password" if word.startswith("pass") else word
    return "password" if "pw" in lower or "passwd" in lower else "key"


def _long(found: re.Match[str]) -> str:
    """Return a long token as it is, unless it is too mixed to be anything that people write."""
    token, start = found[0], found.start()
    before = found.string[max(0, start - 8) : start]
    if _CHECKSUM.match(token) or re.search(r"sha\d+[-:=]$", before) or not _is_mixed(token):
        return token
    return f"{_MARK} token]"


def _is_mixed(token: str) -> bool:
    """Return whether capitals, small letters and digits take turns as they do by chance alone."""
    kinds = [_sort(one) for one in token if one.isalnum()]
    turns = sum(one != other for one, other in pairwise(kinds))
    return (
        {"A", "a", "0"} <= set(kinds)
        and kinds.count("0") >= 2
        and turns >= 0.42 * len(kinds)
        and len(set(token)) >= 16
    )


def _sort(character: str) -> str:
    if character.isdigit():
        return "0"
    return "A" if character.isupper() else "a"
