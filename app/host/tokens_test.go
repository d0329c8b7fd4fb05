package host

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A GitHub that does not answer holds a process that is asked to end for seconds, not for as
// long as a request may take.
func TestEndWithoutGitHub(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(arrived); <-release }))
	t.Cleanup(func() { close(release); server.Close() })
	ctx, end := context.WithCancel(t.Context())
	s := &service{atEnd: func(f func()) func() bool { return context.AfterFunc(ctx, f) }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	asked, waited := make(chan error, 1), make(chan error, 1)
	go func() {
		resp, err := hasty{http.DefaultTransport, s.atEnd}.RoundTrip(r)
		if err == nil {
			err = resp.Body.Close()
		}
		asked <- err
	}()
	go func() { waited <- s.wait(t.Context(), time.Hour) }()
	<-arrived
	end()
	began := time.Now()
	for _, c := range []chan error{asked, waited} {
		select {
		case err := <-c:
			if !errors.Is(err, errEnding) {
				t.Errorf("error %v, want %v", err, errEnding)
			}
		case <-time.After(10 * lastWait):
			t.Fatalf("it goes on after %v", time.Since(began))
		}
	}
}
