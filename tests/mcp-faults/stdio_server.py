#!/usr/bin/env python3
"""An MCP server over stdio that misbehaves on request. Standard library only.

    stdio_server.py [--era legacy|modern|exits|silent|empty] [--version V] [--slow SECONDS]
                    [--counter FILE] [--pages N] [--repeat-cursor] [--malformed] [--tools FILE]

Each tool is one way to go wrong (or right). --counter appends a line per call, so that a test can see
how often a call has really arrived.
"""
import argparse, json, os, subprocess, sys, threading, time

MODERN = "2026-07-28"
parser = argparse.ArgumentParser()
parser.add_argument("--era", default="legacy")
parser.add_argument("--version", default=None)
parser.add_argument("--slow", type=float, default=0)
parser.add_argument("--counter")
parser.add_argument("--pages", type=int, default=1)
parser.add_argument("--repeat-cursor", action="store_true")
parser.add_argument("--malformed", action="store_true")
parser.add_argument("--tools", help="a JSON file with further definitions, read at every listing")
options = parser.parse_args()

lock = threading.Lock()
cancelled = {}
listeners = []


def send(message):
    text = json.dumps(message) + "\n"
    with lock:
        sys.stdout.write(text)
        sys.stdout.flush()


def reply(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def fail(request, code, message):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})


def text(value):
    return {"content": [{"type": "text", "text": str(value)}]}


def tool(name, properties=None, **more):
    schema = {"type": "object", "properties": properties or {}}
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, "x-vendor": {"kept": True}, **more}


TOOLS = [
    tool("echo", {"text": {"type": "string"}}, annotations={"readOnlyHint": True}),
    tool("environment"), tool("pid"), tool("children"), tool("die"), tool("hang"), tool("garbage"), tool("ask"),
    tool("change"), tool("broken_json"), tool("stderr", {"text": {"type": "string"}}),
    tool("sleep", {"seconds": {"type": "number"}}), tool("big", {"bytes": {"type": "integer"}}),
    tool("progress", {"steps": {"type": "integer"}, "pause": {"type": "number"}}), tool("was_cancelled"),
    tool("blocks"), tool("fails"), tool("close_output"),
]
MALFORMED = [
    {"name": "no_schema"}, {"name": "null_schema", "inputSchema": None}, {"name": "true_schema", "inputSchema": True},
    {"inputSchema": {"type": "object"}}, 7, tool("odd_output", outputSchema=[]), tool("odd_hints", annotations=7),
]
extra = []


def listed():
    tools = TOOLS + extra + (MALFORMED if options.malformed else [])
    if options.tools:
        with open(options.tools) as file:
            tools = tools + json.load(file)
    return tools


def list_tools(request):
    cursor = (request.get("params") or {}).get("cursor")
    tools, pages = listed(), options.pages
    page = int(cursor or 0)
    size = -(-len(tools) // pages)
    result = {"tools": tools[page * size:(page + 1) * size]}
    if options.repeat_cursor:
        result = {"tools": tools if page == 0 else [], "nextCursor": "1"}
    elif page + 1 < pages:
        result["nextCursor"] = str(page + 1)
    reply(request, result)


def count(name):
    if options.counter:
        with open(options.counter, "a") as file:
            file.write(name + "\n")


def call(request):
    params = request["params"]
    name, args = params["name"], params.get("arguments") or {}
    token = (params.get("_meta") or {}).get("progressToken")
    count(name)
    if name == "echo":
        reply(request, {"content": [{"type": "text", "text": args.get("text", ""), "x": 1}], "structuredContent": args})
    elif name == "environment":
        reply(request, {"content": [], "structuredContent": dict(os.environ)})
    elif name == "pid":
        reply(request, text(os.getpid()))
    elif name == "children":
        child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
        reply(request, text(child.pid))
    elif name == "die":
        print("about to die of s3cret-value", file=sys.stderr, flush=True)
        os._exit(3)
    elif name == "hang":
        pass
    elif name == "garbage":
        with lock:
            sys.stdout.write("npm warn this is not JSON\n\n{\"half\": \n[1, 2]\nnull\n\x00\xff\n")
        reply(request, text("after garbage"))
    elif name == "broken_json":
        with lock:
            sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"content":[,]}}\n' % request["id"])
            sys.stdout.flush()
    elif name == "ask":
        # Noted first: the answer may come before this thread goes on.
        asked["q1"] = request
        send({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": {"message": "?"}})
    elif name == "change":
        extra.append(tool("added_later"))
        if options.era != "modern" or listeners:
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        reply(request, text("changed"))
    elif name == "stderr":
        print(args.get("text"), file=sys.stderr, flush=True)
        reply(request, text("written"))
    elif name == "sleep":
        wait_for_end(request, args.get("seconds", 1))
    elif name == "big":
        reply(request, text("x" * args["bytes"]))
    elif name == "progress":
        for step in range(args["steps"]):
            time.sleep(args.get("pause", 0))
            if token is not None:
                note = {"progressToken": token, "progress": step + 1, "total": args["steps"], "message": f"step {step + 1}"}
                send({"jsonrpc": "2.0", "method": "notifications/progress", "params": note})
        reply(request, text("done"))
    elif name == "was_cancelled":
        deadline = time.time() + 5
        while not cancelled and time.time() < deadline:
            time.sleep(0.01)
        reply(request, {"content": [], "structuredContent": {"cancelled": list(cancelled)}})
    elif name == "blocks":
        reply(request, {"content": BLOCKS, "_meta": {"a": 1}})
    elif name == "fails":
        reply(request, {**text("it did not work"), "isError": True})
    elif name == "close_output":
        os.close(1)
        time.sleep(1000)
    elif name == "added_later" or name.startswith("extra"):
        reply(request, text(name))
    else:
        fail(request, -32602, f"Unknown tool: {name}")


BLOCKS = [
    {"type": "text", "text": "a", "annotations": {"audience": ["user"]}},
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "a:b", "text": "t", "odd": 1}},
    {"type": "resource_link", "uri": "a:b", "name": "n", "size": 3},
    {"type": "hologram", "rays": [1, 2]},
]
asked = {}


def wait_for_end(request, seconds):
    end = time.time() + seconds
    while time.time() < end:
        if request["id"] in cancelled:
            return
        time.sleep(0.01)
    reply(request, text("slept"))


def discover(request):
    if options.era == "exits":
        sys.exit(9)
    if options.era == "silent":
        return
    if options.era == "empty":
        return reply(request, {})
    if options.era == "modern":
        capabilities = {"tools": {"listChanged": True}}
        return reply(request, {"supportedVersions": [MODERN], "capabilities": capabilities, "resultType": "complete",
                               "ttlMs": 0, "cacheScope": "private",
                               "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "faults", "version": "1"}}})
    fail(request, -32601, "Method not found")


initialized = False


def handle(message):
    global initialized
    method = message.get("method")
    if method is None:
        request = asked.pop(message.get("id"), None)
        if request:
            reply(request, {"content": [], "structuredContent": message})
        return
    if "id" not in message:
        if method == "notifications/cancelled":
            cancelled[message["params"]["requestId"]] = True
        return
    if method == "server/discover":
        return discover(message)
    if method == "initialize":
        if options.era == "modern":
            return fail(message, -32022, "only 2026-07-28 is spoken here")
        initialized = True
        version = options.version or message["params"]["protocolVersion"]
        return reply(message, {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}},
                               "serverInfo": {"name": "faults", "version": "1"}})
    if options.era == "modern":
        meta = (message.get("params") or {}).get("_meta") or {}
        if meta.get("io.modelcontextprotocol/protocolVersion") != MODERN:
            return fail(message, -32602, "the request does not say its version")
    elif not initialized:
        return fail(message, -32600, "not initialized")
    if method == "tools/list":
        list_tools(message)
    elif method == "tools/call":
        threading.Thread(target=call, args=(message,), daemon=True).start()
    elif method == "ping":
        reply(message, {})
    elif method == "subscriptions/listen" and options.era == "modern":
        listeners.append(message)
    else:
        fail(message, -32601, "Method not found")


time.sleep(options.slow)
for line in sys.stdin:
    handle(json.loads(line))
