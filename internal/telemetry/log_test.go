package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/telemetry"
)

// What a context was given stands in each record once; the later of two counts, and what
// a record says itself goes before.
func TestLogWith(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	log := slog.New(telemetry.LogHandler(slog.NewJSONHandler(&b, nil))).With("app", 7)
	ctx := telemetry.LogWith(t.Context(), slog.String("job", "j1"), slog.String("head", "old"))
	inner := telemetry.LogWith(ctx, slog.String("head", "new"), slog.Int("pr", 4))
	log.InfoContext(inner, "inner")
	log.InfoContext(inner, "own", "pr", 5)
	log.InfoContext(ctx, "outer")
	log.InfoContext(context.Background(), "none")
	var got []map[string]any
	for dec := json.NewDecoder(&b); dec.More(); {
		var line map[string]any
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		delete(line, "time")
		got = append(got, line)
	}
	want := []map[string]any{
		{"level": "INFO", "msg": "inner", "app": 7.0, "job": "j1", "head": "new", "pr": 4.0},
		{"level": "INFO", "msg": "own", "app": 7.0, "job": "j1", "head": "new", "pr": 5.0},
		{"level": "INFO", "msg": "outer", "app": 7.0, "job": "j1", "head": "old"},
		{"level": "INFO", "msg": "none", "app": 7.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
