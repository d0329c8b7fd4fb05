package run

import (
	"errors"
	"testing"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Commands of an untrusted head reach no service, whatever the configuration
// allows; those of others do, in the gate as in an agent's shell.
func TestServicesByTrust(t *testing.T) {
	t.Parallel()
	for trust, want := range map[string]int{"untrusted": 0, "trusted": 1, "local": 1} {
		services, err := findServices(t.Context(), trust, []string{"127.0.0.1:5432"})
		if err != nil {
			t.Fatal(err)
		}
		p := &prepared{runner: &Runner{}, begun: &begun{dir: &rundir.Dir{}}, services: services}
		if got := len(p.newGate(nil).Services); got != want {
			t.Errorf("%s: %d services, want %d", trust, got, want)
		}
	}
}

// A service that cannot be one ends the run before anything is executed.
func TestServicesRefused(t *testing.T) {
	t.Parallel()
	var usage *rundir.UsageError
	if _, err := findServices(t.Context(), "local", []string{"169.254.169.254:8080"}); !errors.As(err, &usage) {
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
		for i, set := range []rundir.Network{"", rundir.NetworkSetup, rundir.NetworkNone, rundir.NetworkFull} {
			if got := gateNetwork(trust, set); got != want[i] {
				t.Errorf("%s, --network %q: %q, want %q", trust, set, got, want[i])
			}
		}
	}
}

// The operator's credentials for registries go to setup of heads that someone answers for.
func TestSetupEnvByTrust(t *testing.T) {
	t.Parallel()
	for trust, want := range map[string]int{"untrusted": 0, "trusted": 1, "local": 1} {
		p := &prepared{runner: &Runner{SetupEnv: []string{"NPM_TOKEN=x"}}, begun: &begun{dir: &rundir.Dir{}, job: Job{Trust: trust}}}
		if got := len(p.newGate(nil).SetupEnv); got != want {
			t.Errorf("%s: %d variables, want %d", trust, got, want)
		}
	}
}
