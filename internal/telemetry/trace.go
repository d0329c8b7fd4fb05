package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing sends traces of runs to a collector.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	parent   context.Context // of all runs, as TRACEPARENT names it
}

// OpenTracing reads the variables that OpenTelemetry has for all programs (OTEL_*), and
// returns nil where they ask for no traces: there is neither an endpoint nor
// OTEL_TRACES_EXPORTER=otlp. They go by OTLP over HTTP; the settings of the sampler and
// of batches are the library's, which reads its variables from the process itself.
func OpenTracing(ctx context.Context, getenv func(string) string, version string, log func() *slog.Logger) (*Tracing, error) {
	if wanted, err := tracesWanted(getenv); err != nil || !wanted {
		return nil, err
	}
	client, err := newOTLPClient(getenv)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	out, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	// What the environment says goes before.
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "ycbot"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Tracing{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(&quiet{SpanExporter: out, log: log}), sdktrace.WithResource(res))}
	t.tracer = t.provider.Tracer("github.com/ycbot/ycbot", trace.WithInstrumentationVersion(version))
	t.parent = propagation.TraceContext{}.Extract(context.WithoutCancel(ctx), propagation.MapCarrier{"traceparent": getenv("TRACEPARENT"), "tracestate": getenv("TRACESTATE")})
	return t, nil
}

func tracesWanted(getenv func(string) string) (bool, error) {
	named := getenv("OTEL_TRACES_EXPORTER")
	addressed := getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	switch {
	case strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true"), named == "none", named == "" && !addressed:
		return false, nil
	case named != "" && named != "otlp":
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER %q: want otlp or none", named)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := getenv(name); protocol != "" {
			if protocol != "http/protobuf" {
				return false, fmt.Errorf("%s %q: want http/protobuf", name, protocol)
			}
			break
		}
	}
	return true, nil
}

// Close sends what is left.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	return nil
}

// quiet logs once that traces cannot be sent: no run suffers from that.
type quiet struct {
	sdktrace.SpanExporter
	log  func() *slog.Logger
	said atomic.Bool
}

// ExportSpans implements [sdktrace.SpanExporter].
func (q *quiet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && !q.said.Swap(true) {
		q.log().WarnContext(ctx, "traces cannot be sent; this is said once", "error", err)
	}
	return nil
}
