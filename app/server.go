package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/telemetry"
)

// A Queue stores deliveries with the jobs they call for. [queue.Queue] is one.
type Queue interface {
	Accept(ctx context.Context, d store.Delivery, j *job.Job) (queue.Receipt, error)
	Get(ctx context.Context, id string) (queue.Entry, error)
}

// A Server receives webhooks. The zero values of what is not said to be optional are
// wrong; see [Server.Handler].
type Server struct {
	Secret []byte // of the webhook
	// Previous is the secret before, which counts as well while the new one is put in
	// place; empty: there is none.
	Previous []byte
	Queue    Queue
	// Installed is what a button on a page needs.
	Installed Installed
	Rules     job.Rules
	Allow     Allowed
	Ready     func(context.Context) error // reports whether deliveries can be stored
	Idle      func() error                // says why no run is begun though deliveries are stored; nil: nothing keeps runs from it
	Fresh     func(job.Job)               // is called for each job that is stored for the first time; must not wait; may be nil
	Spool     string                      // folder for large bodies until their signature is checked; empty: that of temporary files
	Pages     http.Handler                // what people look at, at all other addresses; nil: nothing
	Now       func() time.Time
	Log       *slog.Logger

	Metrics  *telemetry.Metrics // nil: none
	Separate bool               // /metrics is answered elsewhere, see [Operations]
}

// Handler returns what answers requests. Without a secret there is none.
func (s *Server) Handler() (http.Handler, error) {
	if len(s.Secret) == 0 {
		return nil, errors.New("webhook: there is no secret")
	}
	hook := &webhook{
		Server: s, small: make(chan struct{}, smallAtOnce), large: make(chan struct{}, largeAtOnce),
		bodyTime: bodyTime, spool: &spool{dir: s.Spool},
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhook", hook)
	watched := Operations{Ready: s.Ready, Idle: s.Idle, Log: s.Log}
	if !s.Separate {
		watched.Metrics = s.Metrics
	}
	watched.add(mux)
	if s.Pages != nil {
		mux.Handle("/", s.Pages)
	}
	return s.Metrics.HTTP(mux), nil
}

// Operations is what programs that watch this one ask for: whether it is alive, whether
// it can work, and its metrics.
type Operations struct {
	Ready   func(context.Context) error
	Idle    func() error       // see [Server]
	Metrics *telemetry.Metrics // nil: none
	Log     *slog.Logger
}

// Handler answers them alone.
func (o Operations) Handler() http.Handler {
	mux := http.NewServeMux()
	o.add(mux)
	return mux
}

func (o Operations) add(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", o.ready)
	if o.Metrics != nil {
		mux.Handle("GET /metrics", o.Metrics.Handler())
	}
}

// readyTime is how long it may take to find out whether deliveries can be stored.
const readyTime = 5 * time.Second

func (o Operations) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if err := o.Ready(ctx); err != nil {
		o.Log.WarnContext(ctx, "not ready", "error", err)
		answer(w, http.StatusServiceUnavailable, "deliveries cannot be stored")
		return
	}
	text := "ready"
	if o.Idle != nil {
		if why := o.Idle(); why != nil { // deliveries are stored all the same, so it is no error
			text = "ready; no run is begun: " + why.Error()
		}
	}
	answer(w, http.StatusOK, text)
}

// answer writes a status with what it means.
func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": text}) // the client may be gone
}

// closeTime is how long requests that are being answered may take when a server ends.
const closeTime = 10 * time.Second

// Serve answers requests until ctx ends, and then finishes those that it has begun.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 60 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := srv.Shutdown(end); err != nil {
		return fmt.Errorf("serve: requests were broken off: %w", err)
	}
	return nil
}
