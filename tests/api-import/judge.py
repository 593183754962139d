"""The judge: Prism, which validates each request against the document, behind a proxy that keeps its verdicts.

One judge serves one document. Whoever is measured sends its requests to `url`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import aiohttp
import yarl
from aiohttp import web

START_TIMEOUT_S = 180
ANSWERING = ("#NO_COMPLEX_OBJECT_TEXT", "#NO_RESPONSE_RESPONSE_DEFINED")
HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "te", "upgrade"}


class Verdict:
    """What the judge said of one request."""

    def __init__(self, request: str, status: int, violations: str, body: bytes) -> None:
        self.request = request
        self.status = status
        self.reason = reason(status, violations, body)

    @property
    def accepted(self) -> bool:
        return self.reason is None


def reason(status: int, violations: str, body: bytes) -> str | None:
    """Why the request was refused; none where it was accepted."""
    if violations:
        try:
            found = [v for v in json.loads(violations) if v.get("location", ["request"])[0] == "request"]
        except (ValueError, AttributeError):
            found = [violations] if '"request"' in violations else []
        if found:
            return json.dumps(found)[:600]
    said = body[:600].decode(errors="replace")
    # The mock's own trouble with its answer, after the request has passed.
    if "prism/errors" in said and not any(own in said for own in ANSWERING):
        return said
    if status == 422:
        return f"422 {body[:400].decode(errors='replace')}"
    return None


class Judge:
    def __init__(self, prism: Path, document: Path) -> None:
        self.prism = prism
        self.document = document
        self.verdicts: list[Verdict] = []
        self.url = ""

    async def __aenter__(self) -> "Judge":
        port = free_port()
        self.target = f"http://127.0.0.1:{port}"
        self.process = await asyncio.create_subprocess_exec(
            str(self.prism), "mock", "-h", "127.0.0.1", "-p", str(port), str(self.document),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True,
        )
        self.log: list[str] = []
        self.reader = asyncio.create_task(self._read())
        try:
            await asyncio.wait_for(self._listening(), START_TIMEOUT_S)
        except (asyncio.TimeoutError, RuntimeError) as error:
            await self.__aexit__()
            raise RuntimeError(f"the judge does not start: {' '.join(self.log[-5:])}") from error
        self.session = aiohttp.ClientSession(auto_decompress=False)
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._forward)
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: Any) -> None:
        if hasattr(self, "runner"):
            await self.runner.cleanup()
            await self.session.close()
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()
        self.reader.cancel()

    async def _read(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            self.log.append(line.decode(errors="replace").strip())

    async def _listening(self) -> None:
        while not any("Prism is listening" in line for line in self.log):
            if self.process.returncode is not None:
                raise RuntimeError("it ended")
            await asyncio.sleep(0.05)

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {k: v for k, v in request.headers.items() if k.lower() not in HOP | {"host"}}
        url = f"{self.target}{request.raw_path}"
        async with self.session.request(
            request.method, yarl.URL(url, encoded=True), headers=headers, data=body or None,
            allow_redirects=False, skip_auto_headers=["User-Agent", "Content-Type"],
        ) as answer:
            answered = await answer.read()
            kept = {k: v for k, v in answer.headers.items() if k.lower() not in HOP}
            told = f"{request.method} {request.raw_path} {body[:200].decode(errors='replace')}"
            violations = answer.headers.get("sl-violations", "")
            self.verdicts.append(Verdict(told, answer.status, violations, answered))
            # 2xx whatever the mock chose: only the judgement counts, and a refusal would hide a sent request.
            return web.Response(status=200, body=answered, headers={"Content-Type": kept.get("Content-Type", "text/plain")})


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
