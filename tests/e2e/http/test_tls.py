"""A server that speaks https: with a certificate of its own, checked by whoever asks."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import httpx
import pytest
from tests.e2e.http.running import TOKEN, running

from recollect.client import RemoteRecollect
from recollect.edge.http.options import ServerOptions
from recollect.edge.http.run import serve
from recollect.errors import InvalidInput, ServerUnreachable


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """Make a certificate for loopback that vouches for itself; return its file and its key's."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    return str(cert), str(key)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_with_a_certificate_is_asked_over_https_alone(
    tmp_path: Path, workers: int
) -> None:
    cert, key = certificate(tmp_path, "own")
    trusting = ssl.create_default_context(cafile=cert)
    with running(tmp_path / "a.db", workers=workers, tls_cert=cert, tls_key=key) as server:
        assert server.url.startswith("https://127.0.0.1:")
        with server.client(verify=trusting) as client:
            assert client.post("/v1/memories", json={"content": "It rains."}).status_code == 200
        with RemoteRecollect(server.url, TOKEN, tls=trusting) as memory:
            assert [one.content for one in memory.list().items] == ["It rains."]
        with (
            RemoteRecollect(server.url, TOKEN, retries=0) as stranger,
            pytest.raises(ServerUnreachable),
        ):
            stranger.stats()
        plainly = server.url.replace("https://", "http://")
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{plainly}/healthz", trust_env=False)
        assert server.end() == 0, server.said
    assert "Traceback" not in server.said


def test_a_certificate_and_a_key_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "one")
    _, other = certificate(tmp_path, "other")
    for shown, used in (
        (cert, other),
        (cert, None),
        (None, key),
        (str(tmp_path / "none.pem"), key),
    ):
        with pytest.raises(InvalidInput, match="certificate") as refused:
            serve(ServerOptions(db=str(tmp_path / "a.db"), port=0, tls_cert=shown, tls_key=used))
        assert "--tls-cert" in str(refused.value.hint)
