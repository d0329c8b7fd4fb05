package config

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"
)

// YAML is c as a file that asks for just this, with the default limits where none
// are set. Steps of commands that are left to detection are left out.
func (c *Config) YAML() ([]byte, error) {
	agents := pairs{{"run", flow(c.Agents.Run)}}
	switch v := c.Agents.Verifiers; {
	case v == VerifiersAuto:
		agents = append(agents, pair{"verifiers", "auto"})
	case v > 1:
		agents = append(agents, pair{"verifiers", int(v)})
	}
	for _, name := range sortedNames(c.Agents.Settings) {
		var own pairs
		if set := c.Agents.Settings[name]; set.Model != "" || set.Effort == "" {
			own = append(own, pair{"model", set.Model})
		}
		if set := c.Agents.Settings[name]; set.Effort != "" {
			own = append(own, pair{"effort", set.Effort})
		}
		agents = append(agents, pair{name, own})
	}
	env := pairs{}
	for _, name := range sortedNames(c.Env) {
		env = append(env, pair{name, c.Env[name]})
	}
	var commands pairs
	for _, step := range []struct {
		name  string
		lines []string
	}{{"setup", c.Commands.Setup}, {"build", c.Commands.Build}, {"test", c.Commands.Test}, {"lint", c.Commands.Lint}} {
		if step.lines != nil {
			commands = append(commands, pair{step.name, flow(step.lines)})
		}
	}
	l := c.Limits.Under(Limits{})
	all := pairs{
		{"version", Version},
		{"on", pairs{{"pull_request", flow(c.On.PullRequest)}, {"drafts", c.On.Drafts}, {"paths_ignore", flow(c.On.PathsIgnore)}, {"outsiders", c.On.Outsiders}}},
		{"allow", c.Allow},
	}
	if commands != nil {
		all = append(all, pair{"commands", commands})
	}
	if len(env) > 0 {
		all = append(all, pair{"env", env})
	}
	if len(c.Network.Allow) > 0 {
		all = append(all, pair{"network", pairs{{"allow", flow(c.Network.Allow)}}})
	}
	if len(c.Machines) > 0 {
		all = append(all, pair{"machines", flow(c.Machines)})
	}
	if len(c.Guidance) > 0 {
		all = append(all, pair{"guidance", flow(c.Guidance)})
	}
	if c.Expectations != "" { // else it depends on the author
		all = append(all, pair{"expectations", c.Expectations})
	}
	all = append(all, pairs{
		{"agents", agents},
		{"limits", pairs{{"timeout", l.Timeout.String()}, {"tokens", l.Tokens}, {"cost_usd", l.CostUSD}, {"cost_usd_per_pr", l.CostUSDPerPR}, {"runs_per_day", l.RunsPerDay}}},
		{"api", c.API},
		{"fail_on", c.FailOn},
		{"require_fail_to_pass", c.RequireFailToPass},
		{"publish", pairs{{"comment", c.Publish.Comment}, {"check", c.Publish.Check}, {"annotations", c.Publish.Annotations}}},
	}...)
	n, err := all.node()
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return out.Bytes(), enc.Close()
}

// pairs is a mapping in its order.
type (
	pairs []pair
	pair  struct {
		key   string
		value any
	}
)

func (p pairs) node() (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, kv := range p {
		value, err := nodeOf(kv.value)
		if err != nil {
			return nil, err
		}
		key := &yaml.Node{}
		if err := key.Encode(kv.key); err != nil {
			return nil, err
		}
		n.Content = append(n.Content, key, value)
	}
	return n, nil
}

func nodeOf(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case pairs:
		return v.node()
	case *yaml.Node:
		return v, nil
	}
	n := &yaml.Node{}
	return n, n.Encode(v)
}

// flow is a list in one line.
func flow[T ~string](list []T) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range list {
		item := &yaml.Node{}
		item.SetString(string(v))
		n.Content = append(n.Content, item)
	}
	return n
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
