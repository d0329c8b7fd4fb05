package run

import (
	"errors"
	"testing"

	"github.com/ycbot/ycbot/internal/config"
)

// Commands of an untrusted head reach no service, whatever the configuration
// allows; those of others do, in the gate as in an agent's shell.
func TestServicesByTrust(t *testing.T) {
	t.Parallel()
	for trust, want := range map[string]int{"untrusted": 0, "trusted": 1, "local": 1} {
		s := &session{Runner: &Runner{}, job: Job{Trust: trust}, config: config.Default()}
		s.config.Network.Allow = []string{"127.0.0.1:5432"}
		if err := s.findServices(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(s.gateOf(nil).Services); got != want {
			t.Errorf("%s: %d services, want %d", trust, got, want)
		}
	}
}

// A service that cannot be one ends the run before anything is executed.
func TestServicesRefused(t *testing.T) {
	t.Parallel()
	s := &session{Runner: &Runner{}, config: config.Default()}
	s.config.Network.Allow = []string{"169.254.169.254:8080"}
	var usage *UsageError
	if err := s.findServices(t.Context()); !errors.As(err, &usage) {
		t.Errorf("got %v, want a UsageError", err)
	}
}
