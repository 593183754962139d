#!/usr/bin/env bash
# Measures imported documents against the judge, and FastMCP beside: docs/api-import.md says what and how.
#
#   tests/api-import/run.sh [--subjects haft] [--only NAME] [--corpus DIR] [--check] …
#
# Needs cargo, Node 20 and Python 3.11; everything else goes into target/api-import.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/api-import
work=$PWD/target/api-import
mkdir -p "$work"

[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
"$work/venv/bin/pip" --quiet --disable-pip-version-check install -r "$here/requirements.txt"
cp "$here/package.json" "$work/"
[ -x "$work/node_modules/.bin/prism" ] || npm --prefix "$work" install --no-audit --no-fund --silent
cargo build --quiet -p haft

rm -rf "$work/data"
target/debug/haft serve --addr 127.0.0.1:0 --data "$work/data" >"$work/serve.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
until url=$(sed -n 's/^listening on //p' "$work/serve.log") && [ -n "$url" ]; do
  kill -0 $server 2>/dev/null || { cat "$work/serve.log" >&2; exit 1; }
  sleep 0.1
done

"$work/venv/bin/python" "$here/measure.py" --prism "$work/node_modules/.bin/prism" \
  --haft-url "$url" --haft-key "$(cat "$work/data/admin.key")" --out "$work/measured.json" "$@"
