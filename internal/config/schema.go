package config

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v4"
)

// A section is the keys that a mapping may have.
type section []field

// A field is one key: a section of its own, or a value that set reads.
type field struct {
	key string
	sub section
	set setter
}

// A setter reads the value of a key, or reports what is wrong with it.
type setter func(d *document, n *yaml.Node, path string)

func (s section) find(key string) (field, bool) {
	i := slices.IndexFunc(s, func(f field) bool { return f.key == key })
	if i < 0 {
		return field{}, false
	}
	return s[i], true
}

// paths lists the keys of s and below, each with its path.
func (s section) paths(above string) []string {
	var out []string
	for _, f := range s {
		out = append(out, join(above, f.key))
		out = append(out, f.sub.paths(join(above, f.key))...)
	}
	return out
}

// agentPath stands for the settings of any agent in paths.
const agentPath = "agents.<agent>"

// Keys lists the path of every key that a file may have.
func Keys() []string {
	s := schema(&Config{})
	return append(s.paths(""), append([]string{"agents.run", "agents.verifiers"}, agentSection(&Agent{}).paths(agentPath)...)...)
}

// schema is the file format: what may stand where, and the field of c that it sets.
func schema(c *Config) section {
	return section{
		{key: "version", set: version},
		{key: "on", sub: section{
			{key: "pull_request", set: list(&c.On.PullRequest, among(Opened, Synchronize, Reopened, ReadyForReview, Labeled))},
			{key: "drafts", set: boolean(&c.On.Drafts)},
			{key: "paths_ignore", set: list(&c.On.PathsIgnore, glob)},
			{key: "outsiders", set: text(&c.On.Outsiders, among(OutsidersGate, OutsidersFull, OutsidersNever))},
		}},
		{key: "allow", set: text(&c.Allow, among(Write, Maintain, Admin))},
		{key: "commands", sub: section{
			{key: "setup", set: commands(&c.Commands.Setup)},
			{key: "build", set: commands(&c.Commands.Build)},
			{key: "test", set: commands(&c.Commands.Test)},
			{key: "lint", set: commands(&c.Commands.Lint)},
		}},
		{key: "env", set: environment(&c.Env)},
		{key: "network", sub: section{
			{key: "allow", set: services(&c.Network.Allow)},
		}},
		{key: "agents", set: agents(&c.Agents)},
		{key: "guidance", set: list(&c.Guidance, filePath)},
		{key: "limits", sub: section{
			{key: "timeout", set: duration(&c.Limits.Timeout)},
			{key: "tokens", set: countOrNone(&c.Limits.Tokens)},
			{key: "cost_usd", set: dollars(&c.Limits.CostUSD)},
			{key: "cost_usd_per_pr", set: dollars(&c.Limits.CostUSDPerPR)},
			{key: "runs_per_day", set: count(&c.Limits.RunsPerDay)},
		}},
		{key: "machines", set: list(&c.Machines, login)},
		{key: "expectations", set: text(&c.Expectations, among(ExpectationsReport, ExpectationsAcknowledge, ExpectationsStrict))},
		{key: "api", set: text(&c.API, among(APIReport, APIStrict, APIOff))},
		{key: "fail_on", set: text(&c.FailOn, among(FailOnAuto, FailOnFail, FailOnPartial, FailOnNever))},
		{key: "require_fail_to_pass", set: boolean(&c.RequireFailToPass)},
		{key: "publish", sub: section{
			{key: "comment", set: text(&c.Publish.Comment, among(CommentSticky, CommentNew, CommentOff))},
			{key: "check", set: boolean(&c.Publish.Check)},
			{key: "annotations", set: boolean(&c.Publish.Annotations)},
		}},
	}
}

func agentSection(a *Agent) section {
	return section{
		{key: "model", set: text(&a.Model, modelName)},
		{key: "effort", set: text(&a.Effort, among(EffortLow, EffortMedium, EffortHigh))},
	}
}

// operatorOnly are keys that a file may not have, written without separators.
var operatorOnly = []string{
	"provider", "baseurl", "apiurl", "endpoint",
	"apikey", "key", "token", "githubtoken", "secret", "secrets", "password", "credentials", "auth",
	"openaiapikey", "anthropicapikey", "ycbotapikey", "openaibaseurl", "ycbotbaseurl", "ycbotprovider",
	"sandbox", "isolation", "sandboxtier", "repositories", "force",
}

// unknown reports a key that the section at path does not have.
func (d *document) unknown(key *yaml.Node, path string) {
	where := join(path, plain(key.Value))
	word := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key.Value))
	near := ""
	if len(d.problems) < shownProblems { // the search is the only part of reading that costs
		near = nearest(path, key.Value)
	}
	switch {
	case slices.Contains(operatorOnly, word):
		d.at(key, where, "comes only from the operator (flag, environment), never from a repository")
	case near != "":
		d.at(key, where, "unknown key; did you mean `%s`?", near)
	default:
		d.at(key, where, "unknown key")
	}
}

// nearest returns the path of the known key that was probably meant, "" where
// none is near. A key of the same section wins over the same key elsewhere.
func nearest(path, key string) string {
	const longest = 40 // longer words are no misspelt keys, and comparing them costs
	if len(key) > longest {
		return ""
	}
	if strings.HasPrefix(path, "agents.") {
		path = agentPath
	}
	key = strings.ReplaceAll(strings.ToLower(key), "-", "_")
	best, least := "", 2*max(min(2, len(key)/2), len(key)/3)+2
	for _, p := range Keys() {
		section, last := "", p
		if i := strings.LastIndexByte(p, '.'); i >= 0 {
			section, last = p[:i], p[i+1:]
		}
		far := 2 * levenshtein.ComputeDistance(key, last)
		if section != path {
			far++
		}
		if far < least {
			best, least = p, far
		}
	}
	return best
}
