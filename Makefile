# Every command of the project. `make run` and `make test` are all that most people need; each does its own set-up.

.DEFAULT_GOAL := help
.PHONY: help run test check bench fmt

help: ## Lists the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: ## Builds and starts Haft on 127.0.0.1:8787; the first start calls a tool of each kind. ONCE=1 stops after that
	@tests/support/run.sh

test: ## All checks and all tests, each part with its time. PART=name runs one part
	@tests/run.sh $(PART)

check: ## Format, lints, dependency rules, licences: the fast part of `make test`
	@tests/run.sh fmt clippy rules deny

bench: ## Benchmarks and comparisons; figures go to docs/performance.md
	@benches/run.sh $(BENCH)

fmt: ## Formats the code
	@cargo fmt --all && git ls-files 'providers/*/*.rs' ':!providers/src/*' ':!providers/tests/*' | xargs rustfmt --edition 2024
