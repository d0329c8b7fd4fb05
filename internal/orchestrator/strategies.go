package orchestrator

import (
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A strategy is how a kind of change is tested.
type strategy struct {
	kind, text string
	paths      *pattern.Pattern // of changed files, in lower case; nil: any
	words      *pattern.Pattern // in the brief, which has the difference; nil: any
}

// strategies are those that agents are given: the first for every change, the others
// where a changed file or the difference speaks for them. They stand in the request and
// not in the text that is the same for all runs, so that a small change costs little.
func strategies() []strategy {
	return []strategy{
		{kind: "New feature", text: "list what task, documentation and help promise, and try each promise. The base cannot have it, so that a command which fails there too proves nothing: show a crash, or quote the sentence that the output contradicts. Then combine it with what existed before: old flags, old data, defaults, the feature switched off."},
		{kind: "Bug fix", text: "reproduce the bug on the base, show that it is gone on the head, try its siblings: the next branch, type, platform."},
		{kind: "Refactoring", text: "compare outputs of both sides over many inputs; exported names and signatures."},
		{kind: "Concurrency", text: "many callers at once, in a loop, with the race detector where there is one. Cancel in the middle, close twice, use after close. Count results and compare with one caller. Run it several times on both sides."},
		{kind: "Configuration", text: "set each new key and show that it has effect; unknown, empty and wrong values; the old file without the key; precedence of file, environment and flag; a dry run of the tool."},
		{
			kind: "Server or API", text: "start it, send requests, read status, headers and body. Missing fields, wrong types and methods, no rights, the same request twice, a large body.",
			words: pattern.New(`(?i)\b(https?|route[rs]?|handler|endpoint|listen|request|response|grpc|graphql|websocket|fastapi|flask|django|express)\b`),
		},
		{
			kind: "Command line", text: "good, bad and no arguments; stdout, stderr and exit code apart; pipes, odd file names, another folder.",
			paths: pattern.New(`(^|/)(cmd|bin|cli|scripts?)/|\.(sh|bash|ps1)$|(^|/)(main|cli|__main__)\.`), words: pattern.New(`(?i)\b(argv|argparse|flag\.|cobra|getopt|clap|commander|yargs|usage:)`),
		},
		{
			kind: "Page", text: "build, serve and render it; look at the document after its scripts ran, at the console and at failed requests; use the form with bad input; error pages, narrow width. Without a browser say what stays open.",
			paths: pattern.New(`\.(html?|css|s[ac]ss|less|jsx|tsx|vue|svelte|astro|tmpl|ejs|hbs|erb|twig)$`),
		},
		{
			kind: "Database or migration", text: "up, down, up again, on an empty store and on old rows. Nothing may be lost.",
			paths: pattern.New(`\.sql$|migrat|(^|/)(schema|models?)\b`), words: pattern.New(`(?i)\b(create table|alter table|insert into|update .+ set|transaction|rollback)\b`),
		},
		{
			kind: "Data and models", text: "empty set, one row, missing values, duplicates, order, tolerance, the same seed twice.",
			paths: pattern.New(`\.(csv|parquet|ipynb|r|jl)$`), words: pattern.New(`(?i)\b(pandas|numpy|dataframe|torch|sklearn|tensor)\b`),
		},
		{
			kind: "Dependencies", text: "what changed between the versions, who uses it, does the lockfile agree?",
			paths: pattern.New(`(^|/)(go\.(mod|sum)|package(-lock)?\.json|(pnpm-lock|yarn|cargo|poetry|uv)\.(yaml|lock)|requirements[^/]*\.txt|pyproject\.toml|cargo\.toml|gemfile(\.lock)?|pom\.xml|[^/]*\.csproj)$`),
		},
		{
			kind: "Build and infrastructure", text: "have the tool check it (dry run, plan, lint); run the built thing and not only the build.",
			paths: pattern.New(`(^|/)(dockerfile|makefile|cmakelists\.txt|jenkinsfile)|\.(tf|ya?ml|mk|gradle)$|(^|/)\.github/`),
		},
		{
			kind: "Library", text: "a small program against the public interface, from its documentation; zero values, nil, errors, misuse that the types permit.",
			words: pattern.New(`(?m)^\+\s*(export |public |pub |def [a-z]|func (\([^)]*\) )?[A-Z])`),
		},
		{
			kind: "Mobile or desktop", text: "build it, run what runs without a device, look into the package.",
			paths: pattern.New(`\.(swift|kt|dart|xib|storyboard|xaml)$|androidmanifest\.xml$`),
		},
		{kind: "Anything else", text: "what would embarrass the author most?"},
	}
}

// fits says whether a strategy is for a change with these files and this brief.
func (s strategy) fits(files []change.File, brief string) bool {
	if s.paths == nil && s.words == nil {
		return true
	}
	for _, f := range files {
		if s.paths != nil && s.paths.MatchString(strings.ToLower(f.Path)) {
			return true
		}
	}
	return s.words != nil && s.words.MatchString(brief)
}

// strategyNotes say how a change like this one is tested.
func strategyNotes(files []change.File, brief string) string {
	var b strings.Builder
	b.WriteString("\n## How to test this kind of change\n\n")
	for _, s := range strategies() {
		if s.fits(files, brief) {
			b.WriteString("- **" + s.kind + "**: " + s.text + "\n")
		}
	}
	return b.String()
}
