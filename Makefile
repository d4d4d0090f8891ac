# Everything a person or CI starts. Each target is one script under tools/.
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
MINUTES ?= 10
.PHONY: help build install test test-long oracle fuzz lint format demo demo-down cluster-up cluster-down images setup

help: ## show these targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' Makefile | expand -t 22

setup: ## install and build what this machine lacks (apt, PyPI, Go modules), kept in ~/.cache/dynatrain
	@tools/setup/all

build: ## build all C++ targets
	@tools/setup/all debian abseil bazelrc
	@bazel build //...

install: ## the tool as dynatrain and kubectl-dynatrain with completions under PREFIX (/usr/local)
	@tools/setup/all debian abseil bazelrc
	@PREFIX="$(PREFIX)" tools/setup/install

test: ## what CI runs: lint, build, all tests, direction, a real cluster; ends with "N passed, N failed"
	@tools/test/run

test-long: ## tsan, asan, the clang build with layering and thread-safety checks, long property and fault runs
	@tools/test/run --long

oracle: ## every configuration of tests/oracle against real Megatron-Core on CPUs; writes docs/oracle.md
	@tools/setup/all debian abseil bazelrc python megatron
	@bazel build //tools/cli:dynatrain
	@tests/oracle/all --write docs/oracle.md

fuzz: ## fuzz every reader of outside text with libFuzzer for MINUTES (10) each
	@tools/setup/all debian abseil bazelrc
	@tests/fuzz/run $(MINUTES)

lint: ## clang-format, clang-tidy on what changed, buildifier, ruff, mypy
	@tools/test/run --only setup,lint

format: ## rewrite C++ and BUILD files in the project's format
	@tools/lint/format

demo: ## the main job, before your eyes, on a local Kubernetes cluster
	@tools/setup/all debian
	@python3 tools/demo/demo.py

demo-down: ## remove everything that `make demo` started
	@tools/cluster/cluster down

cluster-up: ## bring up the local cluster (NODES=3, DYNATRAIN_CLUSTER=dynatrain)
	@tools/cluster/cluster up $(NODES)

cluster-down: ## end the local cluster (DYNATRAIN_CLUSTER=dynatrain)
	@tools/cluster/cluster down

images: ## build the images into build/images
	@tools/images/build build/images
