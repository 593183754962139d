#!/usr/bin/env python3
"""An MCP server over streamable HTTP that misbehaves on request. Standard library only.

    http_server.py [--port N] [--era legacy|modern|stateless] [--tools FILE] [--counter FILE] [--bad-session STATUS]

Prints its port as the first line. Sessions live in memory: a restarted server knows none. The tool
`forget` makes it forget them while it runs.
"""
import argparse, json, sys, threading, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODERN = "2026-07-28"
parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--era", default="legacy")
parser.add_argument("--tools")
parser.add_argument("--counter")
parser.add_argument("--bad-session", type=int, default=404)
parser.add_argument("--status", type=int, help="answer everything with this status")
options = parser.parse_args()

sessions, cancelled, seen_headers, streams = set(), [], [], []
added = []


def tool(name, properties=None, **more):
    return {"name": name, "description": f"The tool {name}.",
            "inputSchema": {"type": "object", "properties": properties or {}}, "x-vendor": 1, **more}


TOOLS = [
    tool("echo", {"text": {"type": "string"}}), tool("headers"), tool("forget"), tool("hang"), tool("cancelled"),
    tool("sse", {"text": {"type": "string"}}), tool("broken_stream"), tool("resumed_stream"), tool("not_json"),
    tool("status", {"code": {"type": "integer"}}), tool("big", {"bytes": {"type": "integer"}}), tool("ask"),
    tool("progress", {"steps": {"type": "integer"}}), tool("change"), tool("drop_connection"), tool("accepted"),
    tool("region", {"region": {"type": "string", "x-mcp-header": "Region"}}), tool("input_required"),
    {"name": "bad_header", "inputSchema": {"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}},
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", kind="application/json", headers=()):
        body = json.dumps(body).encode() if not isinstance(body, bytes) else body
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def result(self, request, result, headers=()):
        self.answer(200, {"jsonrpc": "2.0", "id": request["id"], "result": result}, headers=headers)

    def error(self, request, code, message, status=200, data=None):
        error = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self.answer(status, {"jsonrpc": "2.0", "id": request.get("id"), "error": error})

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()

    def event(self, message, ident=None, retry=None):
        text = (f"id: {ident}\n" if ident else "") + (f"retry: {retry}\n" if retry is not None else "")
        self.wfile.write((text + "data: " + (json.dumps(message) if message is not None else "") + "\n\n").encode())
        self.wfile.flush()

    def do_DELETE(self):
        sessions.discard(self.headers.get("Mcp-Session-Id"))
        self.answer(200)

    def do_GET(self):
        if options.era != "legacy":
            return self.answer(405)
        last = self.headers.get("Last-Event-ID")
        if last:
            self.begin_stream()
            request = pending.pop(last, None)
            if request:
                self.event({"jsonrpc": "2.0", "id": request["id"], "result": text("resumed after " + last)}, "2")
            return
        self.stream_changes()

    def stream_changes(self):
        self.begin_stream()
        streams.append(self)
        while True:
            time.sleep(0.2)
            try:
                self.wfile.write(b": keep-alive\n\n")
                self.wfile.flush()
            except OSError:
                return

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        seen_headers.append({name.lower(): value for name, value in self.headers.items()})
        if options.status:
            return self.answer(options.status, b"no", "text/plain")
        method = message.get("method")
        if options.era == "modern":
            meta = (message.get("params") or {}).get("_meta") or {}
            if meta.get("io.modelcontextprotocol/protocolVersion") != MODERN:
                return self.error(message, -32022, "unsupported version", 400, {"supported": [MODERN]})
            if self.headers.get("Mcp-Method") != method:
                return self.error(message, -32020, "header mismatch", 400)
        else:
            if method == "initialize":
                result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
                          "serverInfo": {"name": "faults"}}
                if options.era == "stateless":
                    return self.result(message, result)
                session = uuid.uuid4().hex
                sessions.add(session)
                return self.result(message, result, [("Mcp-Session-Id", session)])
            if options.era == "legacy":
                session = self.headers.get("Mcp-Session-Id")
                if session not in sessions:
                    if session is None or options.bad_session == 400:
                        return self.error(message, -32000, "Bad Request: No valid session ID provided", 400)
                    return self.error(message, -32001, "Session not found", options.bad_session)
        if "id" not in message:
            if method == "notifications/cancelled":
                cancelled.append(message["params"]["requestId"])
            return self.answer(202)
        if method is None:
            asked[message["id"]] = message
            return self.answer(202)
        if method == "server/discover" and options.era == "modern":
            return self.result(message, {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}}, "resultType": "complete",
                                         "ttlMs": 0, "cacheScope": "private"})
        if method == "tools/list":
            tools = TOOLS + added
            if options.tools:
                with open(options.tools) as file:
                    tools = tools + json.load(file)
            return self.result(message, {"tools": tools})
        if method == "tools/call":
            return self.call(message)
        if method == "subscriptions/listen" and options.era == "modern":
            return self.stream_changes()
        self.error(message, -32601, "Method not found", 404 if options.era == "modern" else 200)

    def call(self, request):
        name, args = request["params"]["name"], request["params"].get("arguments") or {}
        if options.counter:
            with open(options.counter, "a") as file:
                file.write(name + "\n")
        answer = lambda result: self.result(request, result)
        message = lambda result: {"jsonrpc": "2.0", "id": request["id"], "result": result}
        if name in ("echo", "region"):
            answer({"content": [{"type": "text", "text": args.get("text", "")}], "structuredContent": args})
        elif name == "headers":
            answer({"content": [], "structuredContent": seen_headers[-1]})
        elif name == "forget":
            answer(text("forgotten"))
            sessions.clear()
        elif name == "hang":
            time.sleep(1000)
        elif name == "cancelled":
            deadline = time.time() + 5
            while not cancelled and time.time() < deadline:
                time.sleep(0.01)
            answer({"content": [], "structuredContent": {"cancelled": cancelled}})
        elif name == "sse":
            self.begin_stream()
            self.wfile.write(b": hello\r\n\r\n")
            self.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
            self.event(message(text(args.get("text", ""))))
        elif name == "broken_stream":
            self.begin_stream()
            self.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        elif name == "resumed_stream":
            ident = uuid.uuid4().hex
            pending[ident] = request
            self.begin_stream()
            self.event(None, ident, 10)
        elif name == "not_json":
            self.answer(200, b"<html>hello</html>", "text/html")
        elif name == "status":
            self.answer(args["code"], b"so it is", "text/plain", [("Retry-After", "7")])
        elif name == "big":
            answer(text("x" * args["bytes"]))
        elif name == "ask":
            self.begin_stream()
            self.event({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "?"}})
            deadline = time.time() + 5
            while "q" not in asked and time.time() < deadline:
                time.sleep(0.01)
            self.event(message({"content": [], "structuredContent": asked.pop("q", None)}))
        elif name == "progress":
            self.begin_stream()
            token = request["params"].get("_meta", {}).get("progressToken")
            for step in range(args["steps"]):
                self.event({"jsonrpc": "2.0", "method": "notifications/progress",
                            "params": {"progressToken": token, "progress": step + 1, "message": "m"}})
            self.event(message(text("done")))
        elif name == "change":
            added.append(tool("added_later"))
            deadline = time.time() + 5
            while not streams and time.time() < deadline:
                time.sleep(0.01)
            for stream in streams:
                stream.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            answer(text("changed"))
        elif name == "drop_connection":
            self.close_connection = True
            self.connection.close()
        elif name == "accepted":
            self.answer(202)
        elif name == "input_required":
            if "inputResponses" in request["params"]:
                answer({"resultType": "complete", "content": [], "structuredContent": request["params"]["inputResponses"]})
            else:
                answer({"resultType": "input_required", "requestState": "s", "inputRequests": {"who": {"method": "elicitation/create", "params": {}}}})
        else:
            self.error(request, -32602, f"Unknown tool: {name}")


def text(value):
    return {"content": [{"type": "text", "text": value}]}


pending, asked = {}, {}
server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
