"""Tokens of an outside issuer, which a test brings along: checked against its keys, and for us."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.mcp_client import ERAS, agent_over_http
from tests.served import served

from recollect import Recollect
from recollect.edge.http.options import OutsideIssuer
from recollect.edge.mcp.issuer import Issuer, check_issuer
from recollect.errors import InvalidInput, KeyNeeded

RESOURCE = "http://127.0.0.1:8377/mcp"
BOTH = "recollect:read recollect:write"


class LoopbackIssuer:
    """An issuer with keys of its own, on a port of this machine."""

    def __init__(self) -> None:
        self.url = ""
        self.keys: dict[str, rsa.RSAPrivateKey] = {}
        self.asked: list[str] = []
        self.known_as: str | None = None
        self.is_out = False
        self.may_answer, self.is_asked = threading.Event(), threading.Event()
        self.may_answer.set()
        self.add_key("first")

    def add_key(self, kid: str) -> None:
        self.keys[kid] = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def token(self, *, kid: str = "first", key: Any = None, **claims: Any) -> str:
        usual = {
            "iss": self.url,
            "aud": RESOURCE,
            "sub": "ann",
            "exp": time.time() + 600,
            "scope": BOTH,
        }
        made = {name: one for name, one in {**usual, **claims}.items() if one is not None}
        return jwt.encode(made, key or self.keys[kid], algorithm="RS256", headers={"kid": kid})

    def told(self, path: str) -> dict[str, Any] | None:
        self.asked.append(path)
        self.is_asked.set()
        if not self.may_answer.wait(60) or self.is_out:
            return None
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.known_as or self.url, "jwks_uri": f"{self.url}/keys"}
        if path != "/keys":
            return None
        algorithm = jwt.algorithms.RSAAlgorithm
        return {
            "keys": [
                {**json.loads(algorithm.to_jwk(one.public_key())), "kid": kid}
                for kid, one in self.keys.items()
            ]
        }


@contextmanager
def running(issuer: LoopbackIssuer) -> Iterator[LoopbackIssuer]:
    class Asked(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = issuer.told(self.path)
            self.send_response(404 if told is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Asked) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield issuer
        server.shutdown()
        thread.join()


@pytest.fixture
def issuer() -> Iterator[LoopbackIssuer]:
    with running(LoopbackIssuer()) as one:
        yield one


def outside(issuer: LoopbackIssuer, **more: Any) -> OutsideIssuer:
    return OutsideIssuer(issuer.url, RESOURCE, **more)


@pytest.mark.parametrize("era", ERAS)
def test_who_signed_in_elsewhere_has_a_memory_here(
    issuer: LoopbackIssuer, tmp_path: Path, era: str
) -> None:
    memory = Recollect.open(tmp_path / "agent.db", embedder="none")
    with served(memory, outside=outside(issuer, tenant_claim="org"), mcp_tools="chatgpt") as url:
        known = issuer.token(org="acme")
        with agent_over_http(f"{url}/mcp", known, era) as agent:
            assert [one.name for one in agent.ask("list_tools").tools] == ["search", "fetch"]
            assert agent.answer("search", query="kiln") == {"results": []}


def test_a_client_finds_the_issuer_by_what_it_is_refused_with(
    issuer: LoopbackIssuer, tmp_path: Path
) -> None:
    memory = Recollect.open(tmp_path / "agent.db", embedder="none")
    with served(memory, outside=outside(issuer)) as url, httpx.Client(trust_env=False) as client:
        refused = client.post(f"{url}/mcp", json={})
        assert refused.status_code == 401
        at = "http://127.0.0.1:8377/.well-known/oauth-protected-resource/mcp"
        assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{at}"'
        wrong = client.post(f"{url}/mcp", json={}, headers={"authorization": "Bearer a.b.c"})
        assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
        for path in ("", "/mcp"):
            told = client.get(f"{url}/.well-known/oauth-protected-resource{path}").json()
            assert told["resource"] == RESOURCE
            assert told["authorization_servers"] == [issuer.url]
            assert told["scopes_supported"] == BOTH.split()
        # Elsewhere keys alone count.
        headers = {"authorization": f"Bearer {issuer.token()}"}
        assert client.post(f"{url}/v1/recall", json={}, headers=headers).status_code == 401


def test_claims_say_who_it_is_and_scopes_what_that_may_do(issuer: LoopbackIssuer) -> None:
    plain = Issuer(outside(issuer)).principal_of(issuer.token(scope="recollect:read openid"))
    assert (plain.tenant, plain.id, plain.permissions) == ("local", "ann", ("read",))
    named = Issuer(
        outside(issuer, tenant_claim="org", principal_claim="email", teams_claim="groups")
    )
    who = named.principal_of(
        issuer.token(org="acme", email="ann@acme.example", groups=["tools"], scope=BOTH)
    )
    assert (who.tenant, who.id, who.teams) == ("acme", "ann@acme.example", ("tools",))
    assert who.permissions == ("read", "write")
    assert Issuer(outside(issuer)).principal_of(issuer.token(scope=None)).permissions == ()
    assert Issuer(outside(issuer)).principal_of(
        issuer.token(scope=None, scp=["recollect:write", "admin"])
    ).permissions == ("write",)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "http://127.0.0.1:8377/other"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"exp": 1_700_000_000},
        {"exp": None},
        {"sub": None},
        {"sub": 7},
        {"sub": ""},
        {"nbf": 4_000_000_000},
        {"org": None},
        {"scope": 7},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_us_and_for_now_is_refused(
    issuer: LoopbackIssuer, claims: dict[str, Any]
) -> None:
    strict = Issuer(outside(issuer, tenant_claim="org"))
    assert strict.principal_of(issuer.token(org="acme")).id == "ann"
    with pytest.raises(KeyNeeded):
        strict.principal_of(issuer.token(**{"org": "acme", **claims}))


def test_a_signature_of_somebody_else_is_none(issuer: LoopbackIssuer) -> None:
    one = Issuer(outside(issuer))
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    good = issuer.token()
    head, body, _ = good.split(".")
    unsigned = jwt.encode({"sub": "ann"}, None, algorithm="none")
    shared = jwt.encode(
        {"iss": issuer.url, "aud": RESOURCE, "sub": "ann", "exp": time.time() + 60},
        "a secret that everybody could know by now",
        headers={"kid": "first"},
    )
    false = (issuer.token(key=stranger), f"{head}.{body}.", unsigned, shared, "a.b.c", "")
    for token in false:
        with pytest.raises(KeyNeeded):
            one.principal_of(token)
    assert one.principal_of(good).id == "ann"


def test_keys_are_fetched_again_when_one_is_new_but_seldom(issuer: LoopbackIssuer) -> None:
    now = [0.0]
    one = Issuer(outside(issuer), clock=lambda: now[0])
    one.principal_of(issuer.token())
    one.principal_of(issuer.token())
    assert issuer.asked.count("/keys") == 1
    issuer.add_key("second")
    with pytest.raises(KeyNeeded):
        one.principal_of(issuer.token(kid="second"))
    assert issuer.asked.count("/keys") == 1
    now[0] = 11.0
    assert one.principal_of(issuer.token(kid="second")).id == "ann"
    assert issuer.asked.count("/keys") == 2
    now[0] = 400.0
    one.principal_of(issuer.token())
    assert issuer.asked.count("/keys") == 3


def test_an_outage_shuts_nobody_out_and_ends_what_was_taken_back(issuer: LoopbackIssuer) -> None:
    now = [0.0]
    one = Issuer(outside(issuer), clock=lambda: now[0])
    old = issuer.token()
    one.principal_of(old)
    issuer.is_out = True
    now[0] = 400.0
    assert one.principal_of(old).id == "ann"
    asked = len(issuer.asked)
    assert one.principal_of(old).id == "ann"
    assert len(issuer.asked) == asked
    # The issuer takes its key back: from the first moment that it can be asked again, it is none.
    issuer.keys.clear()
    issuer.add_key("second")
    issuer.is_out = False
    now[0] = 411.0
    with pytest.raises(KeyNeeded):
        one.principal_of(old)
    assert one.principal_of(issuer.token(kid="second")).id == "ann"


def test_an_outage_does_not_keep_keys_good_for_ever(issuer: LoopbackIssuer) -> None:
    now = [0.0]
    one = Issuer(outside(issuer), clock=lambda: now[0])
    token = issuer.token()
    one.principal_of(token)
    issuer.is_out = True
    now[0] = 3_599.0
    assert one.principal_of(token).id == "ann"
    now[0] = 3_601.0
    with pytest.raises(KeyNeeded):
        one.principal_of(token)
    issuer.is_out = False
    now[0] += 11
    assert one.principal_of(token).id == "ann"


def test_who_has_a_key_that_is_known_does_not_wait_for_an_issuer_that_hangs(
    issuer: LoopbackIssuer,
) -> None:
    now = [0.0]
    one = Issuer(outside(issuer), clock=lambda: now[0])
    token = issuer.token()
    one.principal_of(token)
    issuer.may_answer.clear()
    issuer.is_asked.clear()
    now[0] = 400.0
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(one.principal_of, token)
        assert issuer.is_asked.wait(60)
        # It is held until this one has its answer.
        assert one.principal_of(token).id == "ann"
        issuer.may_answer.set()
        assert waiting.result(60).id == "ann"


def test_an_issuer_that_calls_itself_something_else_is_none(issuer: LoopbackIssuer) -> None:
    issuer.known_as = "https://evil.example"
    with pytest.raises(KeyNeeded):
        Issuer(outside(issuer)).principal_of(issuer.token())


@pytest.mark.parametrize("told", [[], "keys", 7, {"keys": 7}, {"keys": []}, {}], ids=str)
def test_an_issuer_that_tells_nonsense_lets_nobody_in(issuer: LoopbackIssuer, told: Any) -> None:
    one = Issuer(outside(issuer))
    known = issuer.told
    issuer.told = lambda path: told if path == "/keys" else known(path)  # type: ignore[method-assign]
    with pytest.raises(KeyNeeded):
        one.principal_of(issuer.token())
    another = Issuer(outside(issuer))
    issuer.told = lambda path: told  # type: ignore[method-assign]  # noqa: ARG005
    with pytest.raises(KeyNeeded):
        another.principal_of(issuer.token())


def test_who_cannot_be_reached_lets_nobody_in_and_is_asked_again_later() -> None:
    now = [0.0]
    issuer = LoopbackIssuer()
    with running(issuer):
        token = issuer.token()
    one = Issuer(outside(issuer), clock=lambda: now[0])
    for _ in range(2):
        with pytest.raises(KeyNeeded):
            one.principal_of(token)


@pytest.mark.parametrize("url", ["http://issuer.example", "issuer.example", "file:///etc/passwd"])
def test_an_issuer_is_reached_by_https(url: str) -> None:
    check_issuer(OutsideIssuer("https://issuer.example", "https://memory.example/mcp"))
    with pytest.raises(InvalidInput, match="--issuer"):
        check_issuer(OutsideIssuer(url, "https://memory.example/mcp"))
    with pytest.raises(InvalidInput, match="--resource"):
        check_issuer(OutsideIssuer("https://issuer.example", url))
