package agent

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// agentArgs are the arguments of AgentTool as models are given them. Its aliases
// have others besides; see spawnArgs.
type agentArgs struct {
	SubagentType string      `json:"subagent_type,omitempty" jsonschema:"which agent"`
	Prompt       string      `json:"prompt,omitempty" jsonschema:"the whole task"`
	Description  string      `json:"description,omitempty" jsonschema:"the task in three to five words"`
	Background   bool        `json:"run_in_background,omitempty" jsonschema:"return at once with a task id"`
	Agents       []batchArgs `json:"agents,omitempty" jsonschema:"several tasks at once, instead of the other fields"`
}

// batchArgs is one task of several.
type batchArgs struct {
	ID       string   `json:"id" jsonschema:"your name for it"`
	Role     string   `json:"role" jsonschema:"which agent"`
	Title    string   `json:"title,omitempty" jsonschema:"three to five words"`
	Task     string   `json:"task" jsonschema:"the whole task"`
	Criteria []string `json:"successCriteria,omitempty" jsonschema:"how it is known to be done"`
	Groups   []string `json:"allowedToolGroups,omitempty" jsonschema:"names of tools, to narrow the agent's own"`
}

// resultArgs are the arguments of ResultTool.
type resultArgs struct {
	TaskID string `json:"task_id" jsonschema:"id of the task, or how it begins"`
	Wait   int    `json:"wait_seconds,omitempty" jsonschema:"how long to wait, 1 to 600; 60 if not given"`
}

// agentSchema is the schema of AgentTool with the agents that may be named.
func agentSchema(names []string) (json.RawMessage, error) {
	return schemaOf[agentArgs](func(s *jsonschema.Schema) {
		which := make([]any, len(names))
		for i, n := range names {
			which[i] = n
		}
		agents, least, most := s.Properties["agents"], 1, batchMost
		agents.MinItems, agents.MaxItems = &least, &most
		s.Properties["subagent_type"].Enum, agents.Items.Properties["role"].Enum = which, which
	})
}

// resultSchema is the schema of ResultTool.
func resultSchema() (json.RawMessage, error) {
	return schemaOf[resultArgs](func(*jsonschema.Schema) {})
}

// schemaOf is the schema of a Go type, with what the type cannot say.
func schemaOf[T any](more func(*jsonschema.Schema)) (json.RawMessage, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("schema of a tool: %w", err)
	}
	notNull(s)
	more(s)
	return json.Marshal(s)
}

// notNull drops "or null" from lists: what is optional is left out.
func notNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		notNull(p)
	}
	if s.Items != nil {
		notNull(s.Items)
	}
}
