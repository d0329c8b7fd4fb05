# make test is the one test command: it needs Go and git, and fetches the rest.

# The linter is this version and no other: the installed one, else built by go.
LINT_VERSION := 2.15.0
LINT = $(shell \
	if [ "$$(golangci-lint version --short 2>/dev/null)" = "$(LINT_VERSION)" ]; then echo golangci-lint; \
	else echo go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(LINT_VERSION); fi)

# The packages that take longest begin first, so that none is left alone at the end.
LONG := ./internal/gate ./cmd/ycbot ./internal/backtest ./test/eval ./internal/sandbox ./test/bench

# The packages and tests of which internal/testing/variants leaves something to make variants.
LEAVES := variants[.]Only|variants[.]Run|variants[.]Asked
VARIED_FILES = $(shell grep -rlE --include='*_test.go' --exclude-dir=perf '$(LEAVES)' .)
VARIED = $(sort $(patsubst %/,%,$(dir $(VARIED_FILES))))
VARIANTS = $(shell awk -F '[^A-Za-z0-9_]+' '/^func Test/ { name = $$2 } /$(LEAVES)/ { print name }' $(VARIED_FILES) | sort -u | paste -sd '|' -)

# One package and one test more at a time than there are processors, as some tests wait.
AT_ONCE := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)))

# The packages that start goroutines or share memory between them: in others there is nothing to race.
RACED = $(shell grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir=testdata --exclude-dir=perf --exclude-dir=ycbot-blobs \
	'"sync"|"sync/atomic"|x/sync/|AfterFunc|^[[:space:]]+go [a-z]' . | sed 's:/[^/]*$$::' | sort -u)

.PHONY: test variants fuzz race soak lint lint-tool build cloud bench peers vm eval rehearse clean help

test: ## run all tests; the last line counts what passed, failed and was skipped
	@go run ./test/bench/install
	@# "make lint" and "make race" vet. Collecting garbage takes a fourth of compiling.
	@# -count=1, as looking what each test has opened costs more than the few that are
	@# spared, and a test of other programs cannot know when those have changed.
	@GOGC=$${GOGC:-400} go run ./test/summary -also test/perf -count=1 -vet=off -p=$(AT_ONCE) -parallel=$(AT_ONCE) -timeout=80m $(LONG) ./...

variants: ## what make test leaves out: promises shown once more, for another author, in another language or in their whole size; PART=2/8 runs the second of eight parts
	@GOGC=$${GOGC:-400} go run ./test/summary -count=1 -vet=off -p=$(AT_ONCE) -parallel=$(AT_ONCE) -timeout=80m $(VARIED) -run '^($(VARIANTS))$$' -variants -part '$(PART)'

fuzz: ## every fuzz target for FUZZTIME, 5s unless that is said
	@test/fuzz/run.sh

race: ## the tests of packages with goroutines, with the race detector, but for most of those in which other programs do the work
	@cc=$$(go env CC); command -v "$${cc%% *}" >/dev/null || { echo "race: needs a C compiler; $$cc is not installed" >&2; exit 1; }
	@CGO_ENABLED=1 go run ./test/summary -count=1 -race -short -timeout=80m $(RACED)

soak: ## the storm, the kills and the crash matrix in their whole size; takes an hour or so
	go test -count=1 -timeout=1h ./app -run TestWebhookStorm -v -full
	go test -count=1 -timeout=1h ./internal/queue -run TestKilledWorkers -v -full
	go test -count=1 -timeout=2h ./cmd/ycbot -run TestAppCrashMatrix -full

lint: ## golangci-lint with .golangci.yml
	$(LINT) run ./...
	cd test/perf && $(LINT) run ./...
	cd cmd/ycbot-blobs && $(LINT) run ./...

lint-tool: ## get the linter ready; fails where it cannot be had
	@$(LINT) version --short

build: ## bin/ycbot
	CGO_ENABLED=0 go build $(shell cat cmd/ycbot/build.flags) -ldflags="-s -w" -o bin/ycbot ./cmd/ycbot

bench: ## what ycbot itself costs, beside its goals; writes docs/performance.md; wants a quiet machine
	@go -C test/perf run . -o ../../docs/performance.md

cloud: ## bin/ycbot-blobs, for buckets of clouds, and its tests
	cd cmd/ycbot-blobs && CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o ../../bin/ycbot-blobs . && go test -count=1 ./...

peers: ## ycbot beside other agents, which npm gets; writes its section of docs/performance.md; wants a quiet machine
	@go -C test/perf run . -peers -o ../../docs/performance.md

vm: ## cgroups of version 2, for real, in a small virtual machine: test/vm/run.sh says what it needs
	@test/vm/run.sh '$(RUN)'

eval: ## seeded changes with scripted verifiers, offline; with MODEL=NAME and a key in the environment a real one, which costs money: docs/eval.md
	@go run ./test/eval $(if $(MODEL),-pairs -model "$(MODEL)",-provider script -base-url '' -jobs $(AT_ONCE)) $(ARGS)

rehearse: ## a release, made, installed, upgraded and put back without publishing; wants the network, takes half an hour
	@test/rehearse/run.sh $(OLDER)

clean: ## remove bin and dist
	rm -rf bin dist

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
