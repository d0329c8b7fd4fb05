package provider_test

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model/provider"
)

func TestPick(t *testing.T) {
	t.Parallel()
	known := func(name string) bool { return name != "gone" }
	for _, tc := range []struct {
		name    string
		mode    provider.RouteMode
		agent   provider.Asker
		want    string
		warning bool
	}{
		{"off: what an agent names is inert", provider.RouteOff, provider.Asker{Model: "own"}, "parent", false},
		{"off: not even unknown", provider.RouteOff, provider.Asker{Model: "gone"}, "parent", false},
		{"no mode is off", "", provider.Asker{Model: "own"}, "parent", false},
		{"manual: named", provider.RouteManual, provider.Asker{Model: "own", ReadOnly: true}, "own", false},
		{"manual: not named", provider.RouteManual, provider.Asker{ReadOnly: true}, "parent", false},
		{"manual: inherit", provider.RouteManual, provider.Asker{Model: "inherit"}, "parent", false},
		{"manual: the word fast", provider.RouteManual, provider.Asker{Model: "fast"}, "quick", false},
		{"manual: the word smart", provider.RouteManual, provider.Asker{Model: " smart ", ReadOnly: true}, "wise", false},
		{"auto: named wins", provider.RouteAuto, provider.Asker{Model: "own", ReadOnly: true}, "own", false},
		{"auto: reads only", provider.RouteAuto, provider.Asker{ReadOnly: true}, "quick", false},
		{"auto: runs commands", provider.RouteAuto, provider.Asker{}, "wise", false},
		{"auto: inherit is nothing named", provider.RouteAuto, provider.Asker{Model: "inherit", ReadOnly: true}, "quick", false},
		{"unknown", provider.RouteManual, provider.Asker{Name: "review", Model: "gone"}, "parent", true},
		{"unknown, auto", provider.RouteAuto, provider.Asker{Name: "review", Model: "gone", ReadOnly: true}, "parent", true},
	} {
		r := provider.Route{Mode: tc.mode, Parent: "parent", Fast: "quick", Smart: "wise"}
		got, warning := r.Pick(tc.agent, known)
		if got != tc.want || (warning != "") != tc.warning {
			t.Errorf("%s: %q, warning %q", tc.name, got, warning)
		}
		if tc.warning && warning != `agent review: model "gone" is not known; it is asked of parent` {
			t.Errorf("%s: warning %q", tc.name, warning)
		}
	}
	bare := provider.Route{Mode: provider.RouteAuto, Parent: "parent"}
	for _, a := range []provider.Asker{{}, {ReadOnly: true}, {Model: "fast"}} {
		if got, warning := bare.Pick(a, nil); got != "parent" || warning != "" {
			t.Errorf("without a fast or smart model: %q %q", got, warning)
		}
	}
	broken := provider.Route{Mode: provider.RouteAuto, Parent: "parent", Fast: "gone"}
	if got, warning := broken.Pick(provider.Asker{ReadOnly: true}, known); got != "parent" || warning == "" {
		t.Errorf("an unknown fast model: %q %q", got, warning)
	}
}

func TestParseRouteMode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]provider.RouteMode{"": provider.RouteOff, "off": provider.RouteOff, " manual": provider.RouteManual, "auto": provider.RouteAuto} {
		if got, err := provider.ParseRouteMode(in); err != nil || got != want {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	if _, err := provider.ParseRouteMode("Auto"); err == nil || !strings.Contains(err.Error(), "off, manual or auto") {
		t.Errorf("error %v", err)
	}
}
