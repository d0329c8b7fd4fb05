package run

import (
	"errors"
	"testing"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/gate"
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

// Setup of a head that is not trusted reaches package registries alone. An operator
// may take the network from it as well, or give it to all commands.
func TestNetworkByTrust(t *testing.T) {
	t.Parallel()
	for trust, want := range map[string][]gate.Network{ // of the settings below
		"untrusted": {gate.NetworkRegistries, gate.NetworkRegistries, gate.NetworkNone, gate.NetworkFull},
		"trusted":   {"", gate.NetworkSetup, gate.NetworkNone, gate.NetworkFull},
		"local":     {"", gate.NetworkSetup, gate.NetworkNone, gate.NetworkFull},
	} {
		for i, set := range []Network{"", NetworkSetup, NetworkNone, NetworkFull} {
			s := &session{Runner: &Runner{Network: set}, job: Job{Trust: trust}}
			if got := s.gateNetwork(); got != want[i] {
				t.Errorf("%s, --network %q: %q, want %q", trust, set, got, want[i])
			}
		}
	}
}
