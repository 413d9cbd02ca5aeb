"""Starting a server: one worker in this process, or several under a parent that replaces the dead.

In: options. Out: an exit code, once the server was told to end and what it had begun is done. The
address is bound here, before any worker is there: nobody else can take it, and whoever connects
early waits. What a worker does is in `app`.
"""

from __future__ import annotations

import os
import signal
import socket
import ssl
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.settings import share_counts, tell_workers

if TYPE_CHECKING:
    import uvicorn

    from recollect.edge.http.options import ServerOptions

__all__ = ["address_of", "serve"]

_APPLICATION = "recollect.edge.http.app:from_environment"
_BACKLOG = 2_048
_ONLY_MINE = 0o177
# What was begun has the time of a request; then its connection is cut, and the rest is finished.
_LAST_SECONDS = 2
_AS_TOLD = (0, -signal.SIGTERM, -signal.SIGINT)
# A worker is asked whether it is there when another died; it loads libraries before it can say so.
_SILENT_SECONDS = 10


def serve(options: ServerOptions, *, announce: Callable[[str], None] | None = None) -> int:
    """Serve until a signal ends it; `announce` is told the address once it is taken."""
    _need_fitting(options)
    with ExitStack() as open_things:
        open_things.enter_context(_ended_by_sigterm())
        listener = open_things.enter_context(_bound(options))
        if options.run_dir is None:
            run_dir = open_things.enter_context(tempfile.TemporaryDirectory(prefix="recollect-"))
            options = replace(options, run_dir=run_dir)
        share_counts(str(options.run_dir))
        tell_workers(options.to_text())
        (announce or _tell)(address_of(options, listener))
        return _run(_config(options), listener)


def _need_fitting(options: ServerOptions) -> None:
    """Refuse a certificate that no server could show."""
    if options.tls_cert is None and options.tls_key is None:
        return
    try:
        if options.tls_cert is None or options.tls_key is None:
            raise ValueError("one of the two is missing")
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.tls_cert, options.tls_key)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"the certificate and its key cannot be used: {error}.",
            hint="give --tls-cert and --tls-key, the two files that belong together.",
        ) from error


def address_of(options: ServerOptions, listener: socket.socket) -> str:
    """Return where a server is reached: the port is the one that was taken."""
    if options.socket is not None:
        return f"unix:{options.socket}"
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if options.tls_cert else 'http'}://{name}:{port}"


def _tell(address: str) -> None:
    print(f"recollect serves at {address}", file=sys.stderr, flush=True)


def _config(options: ServerOptions) -> uvicorn.Config:
    import uvicorn

    from recollect.edge.http.connection import Connection, raise_file_limit

    raise_file_limit()
    return uvicorn.Config(
        _APPLICATION,
        factory=True,
        workers=options.workers,
        loop="uvloop",
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=round(options.seconds) + _LAST_SECONDS,
        timeout_worker_healthcheck=_SILENT_SECONDS,
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
    )


def _run(config: uvicorn.Config, listener: socket.socket) -> int:
    if config.workers > 1:
        from recollect.edge.http.workers import Workers

        parent = Workers(config, sockets=[listener])
        parent.run()
        return _ended(one.exitcode for one in parent.processes)
    from uvicorn import Server

    try:
        Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        return 0
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def _ended(codes: Iterable[int | None]) -> int:
    """Return 0 if each worker came to its end as it was told."""
    return 0 if all(code in _AS_TOLD for code in codes) else 1


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Come to an end in the ordinary way: what was made for the server is cleared away."""

    def end(*_: object) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _bound(options: ServerOptions) -> Iterator[socket.socket]:
    """Take the address."""
    if options.socket is not None:
        with _bound_path(Path(options.socket)) as listener:
            yield listener
        return
    with _bound_port(options) as listener:
        yield listener


def _bound_port(options: ServerOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((options.host, options.port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise InvalidInput(
            f"cannot listen at {options.host} port {options.port}: {error}.",
            hint="end what listens there, or choose another --port; 0 takes any that is free.",
        ) from None
    listener.listen(_BACKLOG)
    return listener


@contextmanager
def _bound_path(path: Path) -> Iterator[socket.socket]:
    """Take a socket of the user's own; what a server left behind that is no more gives way."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with listener:
        _clear(path)
        before = os.umask(_ONLY_MINE)
        try:
            listener.bind(str(path))
        except OSError as error:
            raise InvalidInput(
                f"cannot listen at {str(path)!r:.200}: {error}.", hint="name a path of your own."
            ) from None
        finally:
            os.umask(before)
        listener.listen(_BACKLOG)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _clear(path: Path) -> None:
    if not path.exists() or not stat.S_ISSOCK(path.stat().st_mode):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
    raise InvalidInput(f"another server listens at {str(path)!r:.200}.", hint="end it first.")
