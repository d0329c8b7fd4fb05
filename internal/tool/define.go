package tool

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed *.md
var docs embed.FS

// define makes a tool of a function: the schema is that of T, the description
// is NAME.md. It panics when one of them is missing, which the test that builds
// every tool would show.
func define[T any](name string, class Class, parallel bool, run func(context.Context, T) (Result, error)) Tool {
	return defineAs(name, class, parallel, schemaOf[T](), run)
}

// schemaOf is the schema of a Go type.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err)
	}
	return plainTypes(s)
}

// defineAs is define with a schema that says more than the type.
func defineAs[T any](name string, class Class, parallel bool, s *jsonschema.Schema, run func(context.Context, T) (Result, error)) Tool {
	doc, err := docs.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	schema, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return Tool{
		Name: name, Description: strings.TrimSpace(string(doc)), Schema: schema, Class: class, Parallel: parallel, About: aboutOf[T](name),
		Run: func(ctx context.Context, args json.RawMessage) (Result, error) {
			var in T
			dec := json.NewDecoder(bytes.NewReader(args))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&in); err != nil {
				return Result{}, Badf("%s: arguments: %v", name, err)
			}
			return run(ctx, in)
		},
	}
}

// plainTypes drops "or null", which providers read differently: an optional
// argument is left out.
func plainTypes(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		plainTypes(p)
	}
	plainTypes(s.Items)
	return s
}
