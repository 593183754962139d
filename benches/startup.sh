#!/usr/bin/env bash
# How soon `haft serve` accepts, and how much memory it then holds. A first start, then nine on the same directory.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --locked --quiet --profile quick -p haft
haft=${CARGO_TARGET_DIR:-target}/quick/haft
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

for run in $(seq 10); do
  began=$(date +%s%N)
  coproc SERVE { exec "$haft" serve --addr 127.0.0.1:0 --data "$data" 2>/dev/null; }
  read -r line <&"${SERVE[0]}"
  ready=$(((($(date +%s%N)) - began) / 1000))
  server=$SERVE_PID
  resident=$(awk '/^VmRSS/ {print $2}' "/proc/$server/status")
  printf '%-12s ready in %d µs, %d kB resident (%s)\n' "start $run" "$ready" "$resident" "$line"
  kill "$server" && wait "$server" 2>/dev/null || true
done
