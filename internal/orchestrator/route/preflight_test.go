package route

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
)

// A provider that is busy before the run may answer later; a refused key and a model that is
// not there will not.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for status, fatal := range map[int]bool{
		http.StatusTooManyRequests: false, http.StatusServiceUnavailable: false,
		http.StatusUnauthorized: true, http.StatusNotFound: true, http.StatusPaymentRequired: true, http.StatusBadRequest: true,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After-Ms", "1")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error":{"message":"x"}}`))
		}))
		r := &router{
			m:      machine.Machine{Client: server.Client(), Now: time.Now, Log: slog.New(slog.DiscardHandler)},
			target: provider.Target{API: provider.Chat, BaseURL: server.URL, Key: "k"},
			route:  provider.Route{Parent: "m"}, probed: map[string]provider.Finding{},
		}
		_, trouble := r.preflight(t.Context(), func(context.Context, model.Exchange) error { return nil })
		if trouble == nil || trouble.Fatal != fatal || trouble.Text == "" {
			t.Errorf("%d: %+v, want fatal %v", status, trouble, fatal)
		}
		server.Close()
	}
}
