#!/usr/bin/env bash
# `make run`: set up, build, start, and on the first start call one tool of each kind.
#
#   ADDR=127.0.0.1:8787   where to listen
#   DATA=.haft            where the store is
#   ONCE=1                stop after the calls; the exit code says whether all of them worked
#   PROFILE=quick         how it is built: `quick`, `dev` or `release`
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/lib.sh

ADDR="${ADDR:-127.0.0.1:8787}" DATA="${DATA:-.haft}" ONCE="${ONCE:-}" PROFILE="${PROFILE:-quick}"

need() {
  command -v "$1" >/dev/null || { say "$1 is needed: $2"; exit 1; }
}
need cargo "install Rust from your system's packages or rustup"
need node "install Node.js 20 or newer; the first start calls an MCP server that runs on it"
need npm "it comes with Node.js"

began=$SECONDS
say "building haft (a first build takes a few minutes)"
cargo build --locked --quiet --profile "$PROFILE" -p haft
say "built in $((SECONDS - began)) s"

haft=${CARGO_TARGET_DIR:-target}/${PROFILE/#dev/debug}/haft
log=$(mktemp)
# Its log would run through what is shown here; HAFT_LOG=info brings it back.
HAFT_LOG="${HAFT_LOG:-warn}" "$haft" serve --addr "$ADDR" --data "$DATA" >"$log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -f "$log"' EXIT

# The server says so itself when it accepts.
url=
while [ -z "$url" ]; do
  kill -0 "$server" 2>/dev/null || { say "haft did not start; see above"; exit 1; }
  url=$(sed -n 's/^listening on //p' "$log")
  [ -n "$url" ] || sleep 0.05
done

if [ -n "$ONCE" ] || ! [ -e "$DATA/tour.done" ]; then
  modules=$(tool_npm tour docs/examples/tour)
  "$haft" tour --data "$DATA" --mcp-server "$modules/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
  touch "$DATA/tour.done"
fi

[ -z "$ONCE" ] || exit 0
say "the admin key is in $DATA/admin.key; HAFT_LOG=info shows what is served"
cat "$log"
tail -n +"$(($(wc -l <"$log") + 1))" -f "$log" --pid "$server" &
wait "$server"
