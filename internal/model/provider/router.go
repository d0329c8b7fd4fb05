package provider

import (
	"fmt"
	"strings"
)

// A RouteMode says who chooses an agent's model.
type RouteMode string

// The modes of routing.
const (
	RouteOff    RouteMode = "off"    // every agent is asked of the run's model, whatever it names
	RouteManual RouteMode = "manual" // an agent that names a model gets it
	RouteAuto   RouteMode = "auto"   // as manual; others get the fast or the smart model by what they may do
)

// ParseRouteMode reads a mode; "" is off.
func ParseRouteMode(s string) (RouteMode, error) {
	switch m := RouteMode(strings.TrimSpace(s)); m {
	case "":
		return RouteOff, nil
	case RouteOff, RouteManual, RouteAuto:
		return m, nil
	}
	return "", fmt.Errorf("router %q: want off, manual or auto", s)
}

// A Route is how models are chosen for agents.
type Route struct {
	Mode   RouteMode
	Parent string // the run's own model
	Fast   string // "": Parent
	Smart  string // "": Parent
}

// An Asker is an agent, as far as its model depends on it.
type Asker struct {
	Name     string
	Model    string // what its definition names: a model, "fast", "smart"; "" or "inherit": nothing
	ReadOnly bool   // it can run nothing
}

// Pick returns the model of an agent. A model that known does not know is not
// used: the warning says so, and the run's own model is asked. Where known is nil
// every name counts as known.
func (r Route) Pick(a Asker, known func(name string) bool) (name, warning string) {
	explicit := strings.TrimSpace(a.Model)
	if explicit == "inherit" {
		explicit = ""
	}
	switch {
	case r.Mode != RouteManual && r.Mode != RouteAuto:
		return r.Parent, ""
	case explicit != "":
		name = r.role(explicit)
	case r.Mode == RouteAuto && a.ReadOnly:
		name = r.Fast
	case r.Mode == RouteAuto:
		name = r.Smart
	}
	if name == "" || name == r.Parent {
		return r.Parent, ""
	}
	if known != nil && !known(name) {
		return r.Parent, fmt.Sprintf("agent %s: model %q is not known; it is asked of %s", a.Name, name, r.Parent)
	}
	return name, ""
}

// role turns the words fast and smart into the models that they stand for.
func (r Route) role(word string) string {
	switch word {
	case "fast":
		return r.Fast
	case "smart":
		return r.Smart
	}
	return word
}
