"""Who is measured. Each imports a document and gives its tools: method, path, schema, and a way to call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Awaitable, Callable
from urllib.parse import quote

import aiohttp
import yarl


@dataclass
class Tool:
    """An operation as the subject offers it."""

    name: str
    schema: dict[str, Any]
    # Calls it; gives the code of a refusal before anything was sent, else none.
    call: Callable[[dict[str, Any]], Awaitable[str | None]]


class Refused(Exception):
    """The subject does not take the document."""


class Haft:
    """This product, over its HTTP routes."""

    name = "haft"

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.session = aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"})
        self.count = 0

    async def open(self, document: Path, server: str) -> dict[tuple[str, str], Tool]:
        self.count += 1
        body = {"name": f"measure-{self.count}", "openapi_schema": document.read_text(), "server": server}
        status, answer = await self._ask("POST", "/api-tools", body)
        if status != 201:
            raise Refused(f"{status} {json.dumps(answer)[:300]}")
        self.id = answer["id"]
        withheld = withheld_headers(answer["report"])
        if withheld:
            # What a model may not fill comes from the provider.
            headers = [{"key": name, "value": "text"} for name in withheld]
            status, put = await self._ask("PUT", f"/api-tools/{self.id}", {"headers": headers})
            assert status == 200, put
        tools: dict[tuple[str, str], Tool] = {}
        cursor = ""
        while True:
            _, page = await self._ask("GET", f"/api-tools/{self.id}/tools?limit=200{cursor}")
            for item in page["items"]:
                tools[item["method"].upper(), item["path"]] = self._tool(item)
            if not page["next_cursor"]:
                return tools
            cursor = f"&cursor={page['next_cursor']}"

    def _tool(self, item: dict[str, Any]) -> Tool:
        path = f"/api-tools/{self.id}/tools/{quote(item['name'], safe='')}/debug"

        async def call(arguments: dict[str, Any]) -> str | None:
            status, answer = await self._ask("POST", path, {"args": arguments})
            if status == 200:
                return None
            said = answer.get("code", "") if isinstance(answer, dict) else ""
            return f"{said}: {json.dumps(answer)[:400]}"

        return Tool(item["name"], item["args_schema"], call)

    async def close(self) -> None:
        await self._ask("DELETE", f"/api-tools/{self.id}")

    async def end(self) -> None:
        await self.session.close()

    async def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        async with self.session.request(method, yarl.URL(self.url + path, encoded=True), json=body) as answer:
            text = await answer.text()
            try:
                return answer.status, json.loads(text)
            except ValueError:
                return answer.status, text


def withheld_headers(report: dict[str, Any]) -> list[str]:
    """The headers that the report says must come from the provider."""
    names: list[str] = []
    warnings = list(report.get("notes", []))
    for operation in report.get("operations", []):
        warnings += operation.get("warnings", [])
    for warning in warnings:
        parts = warning["message"].split("`")
        if warning["code"] == "withheld" and "carries a credential" in warning["message"] and len(parts) > 1:
            if parts[0].endswith("header ") and parts[1].lower() not in (name.lower() for name in names):
                names.append(parts[1])
    return names


class FastMcp:
    """FastMCP's `from_openapi`, called in this process."""

    name = "fastmcp"

    async def open(self, document: Path, server: str) -> dict[tuple[str, str], Tool]:
        import httpx2 as httpx
        from fastmcp import Client, FastMCP

        from documents import parsed

        try:
            self.http = httpx.AsyncClient(base_url=server)
            mcp = FastMCP.from_openapi(openapi_spec=parsed(document), client=self.http)
            self.client = Client(mcp)
            await self.client.__aenter__()
            listed = await mcp.list_tools()
        except Exception as error:  # whatever it raises, the document is not taken
            raise Refused(f"{type(error).__name__}: {str(error)[:300]}") from error
        tools = {}
        for tool in listed:
            route = tool._route
            tools[route.method.upper(), route.path] = self._tool(tool)
        return tools

    def _tool(self, tool: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> str | None:
            try:
                result = await self.client.call_tool(tool.name, arguments, raise_on_error=False)
            except Exception as error:
                return f"{type(error).__name__}: {str(error)[:300]}"
            return str(result.content)[:300] if result.is_error else None

        return Tool(tool.name, tool.parameters, call)

    async def close(self) -> None:
        try:
            await self.client.__aexit__(None, None, None)
        finally:
            await self.http.aclose()

    async def end(self) -> None:
        pass
