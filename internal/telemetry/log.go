package telemetry

import (
	"context"
	"log/slog"
	"slices"
)

// LogHandler returns a handler that adds to each record what [LogWith] put into its
// context, so that whatever is logged while a job is worked on says which one.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

type logKey struct{}

// LogWith returns a context in which records have these attributes. Of two with one key
// the later counts.
func LogWith(ctx context.Context, attrs ...slog.Attr) context.Context {
	have, _ := ctx.Value(logKey{}).([]slog.Attr)
	all := slices.DeleteFunc(slices.Clone(have), func(a slog.Attr) bool {
		return slices.ContainsFunc(attrs, func(b slog.Attr) bool { return a.Key == b.Key })
	})
	return context.WithValue(ctx, logKey{}, append(all, attrs...))
}

// Handle implements [slog.Handler]. What a record has itself goes before.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	have, _ := ctx.Value(logKey{}).([]slog.Attr)
	if len(have) > 0 {
		own := map[string]bool{}
		r.Attrs(func(a slog.Attr) bool { own[a.Key] = true; return true })
		r = r.Clone()
		for _, a := range have {
			if !own[a.Key] {
				r.AddAttrs(a)
			}
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name)}
}
