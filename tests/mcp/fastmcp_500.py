"""A FastMCP server with 500 tools, for tests: each adds its own number to what it is given."""
import sys
from fastmcp import FastMCP

server = FastMCP("five hundred")


def make(number):
    def add(value: int, label: str | None = None) -> dict:
        return {"sum": value + number, "label": label}

    add.__name__ = f"add_{number:03}"
    add.__doc__ = f"Adds {number} to a value."
    server.tool(add)


for number in range(500):
    make(number)

if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
    else:
        server.run(show_banner=False)
