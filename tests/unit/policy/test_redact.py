"""Secrets are taken out of a text, and nothing else is."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.redact import redact


def some(alphabet: str, count: int, seed: int = 7) -> str:
    """Return letters by chance, always the same: no real secret stands in this file."""
    chance = random.Random(seed)
    return "".join(chance.choice(alphabet) for _ in range(count))


MIXED = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
M = some(MIXED, 80)
H = some(HEX, 80)
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{M}\n{M}\n-----END RSA PRIVATE KEY-----"

# What is said, the secret in it.
SECRETS = [
    (f"use sk-ant-api03-{M[:60]} here", f"sk-ant-api03-{M[:60]}"),
    (f"OPENAI key sk-proj-{M[:48]}", f"sk-proj-{M[:48]}"),
    (f"old one: sk-{M[:48]}.", f"sk-{M[:48]}"),
    (f"maps with AIza{M[:35]}", f"AIza{M[:35]}"),
    (f"ya29.{M[:60]}", f"ya29.{M[:60]}"),
    (f"push with ghp_{M[:36]}", f"ghp_{M[:36]}"),
    (f"ghs_{M[:36]} is the app's", f"ghs_{M[:36]}"),
    (f"github_pat_{M[:22]}_{M[:59]}", f"github_pat_{M[:22]}_{M[:59]}"),
    (f"(glpat-{M[:20]})", f"glpat-{M[:20]}"),
    (f"xoxb-{some('0123456789', 12)}-{M[:24]}", M[:24]),
    (f"post to https://hooks.slack.com/services/T{M[:8]}/B{M[:8]}/{M[:24]}", M[:24]),
    (f"sk_live_{M[:24]} in prod", f"sk_live_{M[:24]}"),
    (f"whsec_{M[:32]}", f"whsec_{M[:32]}"),
    (f"AKIA{some(UPPER, 16)} belongs to ci", f"AKIA{some(UPPER, 16)}"),
    (f"aws_secret_access_key = {M[:40]}", M[:40]),
    (f"hf_{M[:34]}", f"hf_{M[:34]}"),
    (f"//registry.npmjs.org/:_authToken=npm_{M[:36]}", f"npm_{M[:36]}"),
    (f"pypi-AgEIcHlwaS5vcmc{M[:60]}", f"pypi-AgEIcHlwaS5vcmc{M[:60]}"),
    (f"SG.{M[:22]}.{M[:43]}", f"SG.{M[:22]}.{M[:43]}"),
    (f"SK{H[:32]}", f"SK{H[:32]}"),
    (f"dop_v1_{H[:64]}", f"dop_v1_{H[:64]}"),
    (f"shpat_{H[:32]}", f"shpat_{H[:32]}"),
    (f"bot 123456789:AA{M[:33]}", f"AA{M[:33]}"),
    (f"hvs.{M[:40]}", f"hvs.{M[:40]}"),
    (f"gsk_{M[:52]}", f"gsk_{M[:52]}"),
    (f"eyJhbGciOiJI{M[:12]}.eyJzdWIi{M[:30]}.{M[:43]}", M[:43]),
    (PEM, M),
    (f"it begins:\n-----BEGIN PRIVATE KEY-----\n{M}\nand is cut off", M),
    (f"Authorization: Bearer {M[:40]}", M[:40]),
    ("curl -H 'Authorization: Basic dXNlcjpodW50ZXIy'", "dXNlcjpodW50ZXIy"),
    ("curl -u ann:hunter2 https://example.org", "hunter2"),
    ("postgres://app:s3cr3t-pw@db.internal:5432/shop", "s3cr3t-pw"),
    ("redis://:p4ss@cache:6379/0", "p4ss"),
    ("DB_PASSWORD=hunter2", "hunter2"),
    ("export PASSWORD=correcthorse", "correcthorse"),
    ('{"password": "hunter two", "user": "ann"}', "hunter two"),
    ("api_key: 8f14e45fceea167a5a36", "8f14e45fceea167a5a36"),
    ("client_secret='x9!kfl2'", "x9!kfl2"),
    ("mysql --password hunter2 shop", "hunter2"),
    ("tool --api-key=abc123def", "abc123def"),
    ("the password is hunter2!x", "hunter2!x"),
    ("das Passwort ist 'geheim'", "geheim"),
    (f"AccountKey={M[:60]}==;EndpointSuffix", M[:60]),
    (f"it printed {M[:48]} and ended", M[:48]),
    (f"session={some(MIXED + '-_', 64, 3)}", some(MIXED + "-_", 64, 3)),
]

# What is no secret.
HARMLESS = [
    "Deploys happen before noon.",
    "The password is wrong, says the form.",
    "The password is required and stored in 1Password.",
    "Where is the token budget set? max_tokens=800, token_budget: 600",
    "token = get_token()",
    "password: str",
    "def login(user: str, password: str | None = None) -> Token:",
    "secret = os.environ['APP_SECRET']",
    "PASSWORD=$DB_PASSWORD",
    "PASSWORD=${DB_PASSWORD:-none}",
    "api_key=None",
    "password=<your password>",
    "Token: see the wiki",
    "const token = request.headers.authorization",
    "git show 508128a9c1f2d3e4b5a69788796a5b4c3d2e1f00",
    f"sha256:{H[:64]}",
    "550e8400-e29b-41d4-a716-446655440000",
    "pak_0123456789abcdef0123456789abcdef",
    "integrity sha512-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU0qJ7TImW5JCeuQeRkm5NMpJWZG3hSuA==",
    "/home/ann/projects/shop/src/components/CheckoutFormWithValidationAndRetries.tsx",
    "https://example.org/docs/a-very-long-page-about-the-2024-release-and-what-came-after",
    "getUserAccountInformationFromDatabaseByIdentifier2",
    "test_a_hidden_match_never_changes_a_visible_score_of_2024_in_any_way",
    "AbstractSingletonProxyFactoryBeanHttp2ConnectionPoolManagerImplV3",
    "Basic understanding of the Bearer authentication scheme",
    "see http://user@host.example/path:8080",
    "meet at 10:30 @ the office",
    "ssh://git@github.com:22/ann/shop.git",
    "the task-sk-list and risk-ant-farm are words",
    "PRIVATE KEY material never leaves the device",
    "the secret: patience",
    "a secret of the trade is that tokens are cheap",
    "tokens: 312",
    "What is the secret to good bread?",
    "`recollect keys create` makes one",
    "AKIA is how such keys begin",
    "1234567890123456789012345678901234567890",
    "================================================",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "the API key is in the vault",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_replaced_by_its_kind(text: str, secret: str) -> None:
    told = redact(text)
    assert secret not in told
    assert "[redacted: " in told


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_the_words_around_a_secret_stay(text: str, secret: str) -> None:
    told = redact(f"Remember the garden. {text}\nThe kiln is booked.")
    assert told.startswith("Remember the garden.")
    assert told.endswith("The kiln is booked.") or "cut off" in text


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_redacting_twice_is_redacting_once(text: str, secret: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.text())
def test_any_text_is_taken_and_redacting_it_again_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)
