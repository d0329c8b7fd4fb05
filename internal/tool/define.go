package tool

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed *.md
var docs embed.FS

// define makes a tool of a function: the schema is that of T, the description
// is NAME.md. It panics when one of them is missing, which the test that builds
// every tool would show.
func define[T any](name string, class Class, parallel bool, run func(context.Context, T) (Result, error)) Tool {
	return defineAs(name, class, parallel, schemaOf(reflect.TypeFor[T]()), run)
}

// schemaOf is the schema of a Go type.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		panic(err)
	}
	return plainTypes(s)
}

// defineAs is define with a schema that says more than the type.
func defineAs[T any](name string, class Class, parallel bool, s *jsonschema.Schema, run func(context.Context, T) (Result, error)) Tool {
	t := described(name, s)
	t.Class, t.Parallel, t.About = class, parallel, aboutOf[T](name)
	t.Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
		var in T
		if err := strictly(name, args, &in); err != nil {
			return Result{}, err
		}
		return run(ctx, in)
	}
	return t
}

// described is a tool with its description for the model. It is apart from [defineAs], of which the
// program has one for each tool.
func described(name string, s *jsonschema.Schema) Tool {
	doc, err := docs.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	schema, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return Tool{Name: name, Description: strings.TrimSpace(string(doc)), Schema: schema}
}

// strictly reads a tool's arguments, of which each must be known.
func strictly(tool string, args json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return Badf("%s: arguments: %v", tool, err)
	}
	return nil
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
