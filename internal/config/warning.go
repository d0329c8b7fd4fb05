package config

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/pattern"
)

// resultsVariable is a variable that stands in commands that the gate finds by itself, as
// "ycbot gate explain" prints them, and is set for no other.
var resultsVariable = pattern.New(`\$\{?(RESULTS|REPORTER)\b`)

// Warnings are settings of a valid file that are likely meant otherwise.
func Warnings(name string, data []byte) Problems {
	d := &document{file: name}
	root := d.parse(data)
	if root == nil || root.Kind != yaml.MappingNode {
		return nil
	}
	commands := valueOf(root, "commands")
	if commands == nil {
		return nil
	}
	for i := 0; i+1 < len(commands.Content); i += 2 {
		value := commands.Content[i+1]
		for _, n := range append([]*yaml.Node{value}, value.Content...) {
			m := resultsVariable.FindStringSubmatch(n.Value)
			if m == nil || strings.Contains(n.Value, m[1]+"=") {
				continue
			}
			d.at(n, "commands."+plain(commands.Content[i].Value), "warning: $%s is empty here: ycbot sets it only in commands that it makes itself; "+
				"write the command as you would type it, and a known runner is asked for its results by itself", m[1])
		}
	}
	return d.problems
}

// UnknownAgents are the names under agents.run that find has no agent for.
func UnknownAgents(name string, data []byte, find func(agent string) error) Problems {
	d := &document{file: name}
	root := d.parse(data)
	if root == nil || root.Kind != yaml.MappingNode {
		return nil
	}
	section := valueOf(root, "agents")
	if section == nil || section.Kind != yaml.MappingNode {
		return nil
	}
	if names := valueOf(section, "run"); names != nil {
		for _, n := range names.Content {
			if err := find(n.Value); err != nil {
				d.at(n, "agents.run", "%v", err)
			}
		}
	}
	return d.problems
}

// valueOf is what a mapping has under a key; nil: nothing.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
