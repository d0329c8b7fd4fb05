package main

import (
	"github.com/ycbot/ycbot/internal/machine"
)

// machine is the machine as packages see it.
func (p *program) machine() machine.Machine {
	return machine.Machine{Env: p.env, Now: p.now, Client: p.client, Log: p.log(), Shim: p.shim, OS: p.platform, Version: version()}
}

// home is where ycbot keeps its own files.
func (p *program) home() (string, error) { return p.machine().Home() }
