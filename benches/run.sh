#!/usr/bin/env bash
# Runs the benchmarks: all of them, or those that are named.
#
#   benches/run.sh            toolset api_call workflow_engine chat startup
#   benches/run.sh startup    this one
set -euo pipefail
cd "$(dirname "$0")/.."

names=("$@"); [ ${#names[@]} -gt 0 ] || names=(toolset api_call workflow_engine chat startup)
for name in "${names[@]}"; do
  if [ "$name" = startup ]; then benches/startup.sh; else cargo bench -p benches --bench "$name"; fi
done
