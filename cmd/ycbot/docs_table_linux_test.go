package main

// inDocs is a command or a YAML document of the docs, and the test that executes it, or
// what keeps tests from that.
type inDocs struct{ page, text, by, cannot string }

var shownInDocs = []inDocs{
	{page: "CONTRIBUTING.md", text: "go test ./internal/gate/ecosystem -run 'TestNothingIsMissing|TestNamesAreNotAskedFor'", by: "TestWalks"},
	{page: "CONTRIBUTING.md", text: "go test ./internal/event ./internal/job", by: "TestWalks"},
	{page: "CONTRIBUTING.md", text: "go test ./app -run \"TestEveryCommandIsAnswered|TestAnswerOnce\"", by: "TestWalks"},
	{page: "CONTRIBUTING.md", text: "go test ./internal/gate/checks", by: "TestWalks"},
	{page: "CONTRIBUTING.md", text: "go test ./internal/gate -run 'TestScenarios/commands$'", by: "TestWalks"},
	{page: "README.md", text: "go run ./cmd/ycbot demo", by: "TestScript/demo"},
	{page: "README.md", text: "make test", cannot: "it is what runs this test"},
	{page: "README.md", text: "go install ./cmd/ycbot", cannot: "every test here runs what it makes; .ci/run builds it"},
	{page: "README.md", text: "cd ~/src/project", by: "TestReadme"},
	{page: "README.md", text: "ycbot run", by: "TestReadme"},
	{page: "README.md", text: "ycbot run --dirty", by: "TestReadme"},
	{page: "README.md", text: "ycbot run --base v1.2.0 --head v1.2.1 --format json --out report/", by: "TestReadme"},
	{page: "README.md", text: "ycbot gate explain", by: "TestReadme"},
	{page: "README.md", text: "ycbot doctor", by: "TestReadme"},
	{page: "README.md", text: "export YCBOT_API_KEY=…", by: "TestReadme"},
	{page: "README.md", text: "ycbot run --model gpt-5 --max-cost-usd 2", by: "TestReadme"},
	{page: "README.md", text: "ycbot run --provider anthropic --model claude-sonnet-4-5", by: "TestRunByEachAPI"},
	{page: "README.md", text: "ycbot run --model qwen3-coder --base-url http://127.0.0.1:11434/v1", by: "TestReadme"},
	{page: "README.md", text: "export GITHUB_TOKEN=$(gh auth token)", cannot: "gh asks github.com for a person's token; TestRunPull has one"},
	{page: "README.md", text: "ycbot run --pr 7", by: "TestRunPull"},
	{page: "README.md", text: "ycbot run --pr 7 --publish", by: "TestRunPull"},
	{page: "README.md", text: "ycbot check ~/.ycbot/projects/…/runs/…", by: "TestReadme"},
	{page: "README.md", text: "on: {pull_request: {types: [opened, synchronize, reopened, ready_for_review, labeled, edited]}, issue_comment: {types: [created]}} permissions: {}", by: "TestReadmeWorkflow"},

	{page: "docs/action.md", text: "name: ycbot on:", by: "TestTeamWorkflow"},
	{page: "docs/action.md", text: "name: ycbot for forks on:", by: "TestMaintainersWorkflow"},
	{page: "docs/action.md", text: "name: ycbot gate on:", by: "TestClaims"},
	{page: "docs/action.md", text: "name: ycbot publish on:", by: "TestClaims"},
	{page: "docs/action.md", text: "name: ycbot on each project on:", cannot: "two jobs that TestTeamWorkflow runs one of; TestWorkflows holds its form, TestReadInputs its inputs"},
	{page: "docs/action.md", text: "env: YCBOT_FAST_MODEL: gpt-5-mini # agents that only read", by: "TestModelsOfAgents"},

	{page: "docs/agents.md", text: `permission: "*": deny`, by: "TestSnippets"},
	{page: "docs/agents.md", text: "ycbot tasks list [-n 20] [--format json]", by: "TestScript/tasks"},
	{page: "docs/agents.md", text: "ycbot tasks show ID what it took, and its result or what it did last", by: "TestScript/tasks"},
	{page: "docs/agents.md", text: "ycbot tasks transcript ID all that happened, as Markdown", by: "TestScript/tasks"},
	{page: "docs/agents.md", text: "ycbot tasks stop ID a task; with the id of a run, all of it", by: "TestScript/tasks"},

	{page: "docs/backtest.md", text: "ycbot backtest --last 20", by: "TestScript/backtest"},
	{page: "docs/backtest.md", text: "ycbot backtest --last 20 --resume ~/.ycbot/backtests/…/results.jsonl", by: "TestScript/backtest"},
	{page: "docs/backtest.md", text: "ycbot backtest --repos ~/src --last 5 --arms good,undone --out study/", by: "TestScript/backtest"},
	{page: "docs/backtest.md", text: "ycbot backtest table --out study/ --format markdown", by: "TestScript/backtest"},

	{page: "docs/config.md", text: "# .github/ycbot.yml version: 1", by: "TestDocsCanBeRead"},

	{page: "docs/eval.md", text: "export YCBOT_API_KEY=…", cannot: "a paid key"},
	{page: "docs/eval.md", text: "go run ./test/eval -model gpt-5 -cases paging -max-cost-usd 0.5", cannot: "a paid key; TestYcbot runs it with a scripted model"},
	{page: "docs/eval.md", text: "make eval MODEL=gpt-5", cannot: "a paid key; TestYcbot runs it with a scripted model"},
	{page: "docs/eval.md", text: `make eval MODEL=qwen3-coder ARGS="-base-url http://127.0.0.1:11434/v1 -jobs 2"`, cannot: "a model on the machine; TestYcbot runs it with a scripted one"},
	{page: "docs/eval.md", text: `make eval MODEL=claude-sonnet-4-5 ARGS="-provider anthropic"`, cannot: "a paid key; TestYcbot runs it with a scripted model"},
	{page: "docs/eval.md", text: "go test ./test/eval -run Proofs", by: "TestScriptProofs"},
	{page: "docs/eval.md", text: `make eval ARGS="-cases NAME"`, by: "TestYcbot"},
	{page: "docs/eval.md", text: "go test ./test/eval -run TestYcbot -full", by: "TestYcbot"},

	{page: "docs/formats.md", text: "permissions: security-events: write # beside what ycbot itself needs", cannot: "it uploads to github.com; TestSARIFSchema holds the file"},
	{page: "docs/formats.md", text: "# GitLab verify:", by: "TestSnippets"},
	{page: "docs/formats.md", text: "jq '.predicate | {result, failedTests}' statement.intoto.json", by: "TestStatementIsRead"},
	{page: "docs/formats.md", text: `jq -r '.predicate.configuration[] | select(.name == "report.json") | .annotations' statement.intoto.json`, by: "TestStatementIsRead"},
	{page: "docs/formats.md", text: `jq -r '.predicate.configuration[] | select(.name | test("^(report.json|evidence.jsonl)$")) | "\(.digest.sha256) \(.name)"' statement.intoto.json | sha256sum --check`, by: "TestStatementIsRead"},
	{page: "docs/formats.md", text: "cosign attest-blob --yes --statement statement.intoto.json --bundle statement.sigstore.json", cannot: "it signs at sigstore.dev, in a person's name"},
	{page: "docs/formats.md", text: `cosign verify-blob-attestation --bundle statement.sigstore.json --type https://in-toto.io/attestation/test-result/v0.1 --digestAlg gitCommit --digest "$HEAD_SHA" --certificate-identity "$WHO" --certificate-oidc-issuer https://token.actions.githubusercontent.com`, cannot: "what it verifies is signed at sigstore.dev"},
	{page: "docs/formats.md", text: "permissions: id-token: write", cannot: "github.com signs; TestStatementIsRead reads the predicate that it takes"},

	{page: "docs/gate.md", text: "ycbot gate explain", by: "TestScript/explain"},
	{page: "docs/gate.md", text: "commands: setup: npm ci", by: "TestSnippets"},

	{page: "docs/operate.md", text: "ycbot app manifest --public-url https://ycbot.example.com", by: "TestSetUpAsDocumented"},
	{page: "docs/operate.md", text: "ycbot app serve --settings ycbot.env", by: "TestSetUpAsDocumented"},
	{page: "docs/operate.md", text: "YCBOT_SETTINGS=ycbot.env ycbot doctor", by: "TestSetUpAsDocumented"},
	{page: "docs/operate.md", text: "version: 1 repositories:", by: "TestSnippets"},
	{page: "docs/operate.md", text: "services: ycbot:", by: "TestComposeExamples"},
	{page: "docs/operate.md", text: "x-ycbot: &ycbot image: ycbot", by: "TestComposeExamples"},
	{page: "docs/operate.md", text: "apiVersion: apps/v1 kind: Deployment", by: "TestKubernetesExamples"},
	{page: "docs/operate.md", text: "# prometheus.yml scrape_configs:", cannot: "Prometheus reads it; TestAppOperations asks for the metrics at such an address"},
	{page: "docs/operate.md", text: "groups: - name: ycbot", by: "TestDashboard"},
	{page: "docs/operate.md", text: "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318", by: "TestTrace"},
	{page: "docs/operate.md", text: "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20…", by: "TestTrace"},
	{page: "docs/operate.md", text: "OTEL_TRACES_SAMPLER=parentbased_traceidratio OTEL_TRACES_SAMPLER_ARG=0.1", by: "TestTraceOff"},

	{page: "docs/security.md", text: "docker run --user 1001 --cap-drop ALL --security-opt no-new-privileges --security-opt seccomp=docs/seccomp-worker.json --security-opt apparmor=unconfined --security-opt systempaths=unconfined --pids-limit 8192 --memory 8g IMAGE", cannot: "it needs docker and the image; TestShippedProfile holds the profile"},
	{page: "docs/security.md", text: "spec: hostUsers: false", cannot: "it needs Kubernetes; TestShippedProfile holds the profile"},
}
