#!/usr/bin/env bash
# The rules of ARCHITECTURE.md about who may depend on whom, each held by a command.
set -uo pipefail
cd "$(dirname "$0")/../.."
failed=0

# `crate` must not reach any of the packages that match the pattern, through normal dependencies.
never() {
  local crate=$1 pattern=$2 why=$3 found
  found=$(cargo tree --locked -p "$crate" -e normal --prefix none --format '{p}' 2>&1 | cut -d' ' -f1 | sort -u | grep -Ex "$pattern")
  if [ -n "$found" ]; then
    printf '%s depends on %s: %s\n' "$crate" "$(tr '\n' ' ' <<<"$found")" "$why"; failed=1
  fi
}

never domain 'axum|hyper|reqwest|rmcp|rusqlite|aws-.*|egress|apps|source-.*|infra-.*|fn-.*' 'domain does no I/O and knows no vendor'
never egress 'axum|rmcp|apps|source-.*|infra-.*|fn-.*|providers' 'egress is below everything that calls out'
never codegen 'domain|egress|apps|source-.*|infra-.*|fn-.*|providers' 'the compiler of the registry depends on nothing of ours'
never apps 'egress|reqwest|rmcp|source-.*|infra-.*|fn-.*|providers|axum' 'apps sees sources only as ports'
never source-api 'source-mcp|source-workflow|providers|apps|infra-.*|fn-.*|axum|rmcp' 'siblings do not see each other'
never source-mcp 'source-api|source-workflow|providers|apps|infra-.*|fn-.*' 'siblings do not see each other'
never agent 'source-.*|apps|infra-.*|fn-.*|providers|axum|rmcp' 'an agent receives models and toolsets as ports'
never source-workflow 'source-api|source-mcp|providers|apps|infra-.*|fn-.*|axum|rmcp' 'siblings do not see each other'
never agent 'source-.*|providers|infra-.*|fn-.*|axum|rmcp' 'the agent sees tools as a toolset alone'
never providers 'source-.*|apps|infra-.*|fn-.*|axum|rmcp' 'siblings do not see each other'
never haft 'aws-(config|sdk-.*|types|runtime|smithy-.*)|lambda_.*|infra-(dynamodb|kms|s3|sqs)' 'the gateway links no cloud'

[ "$failed" = 0 ] && echo "every dependency rule holds"
exit "$failed"
