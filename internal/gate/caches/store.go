package caches

import (
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// A Store says where the caches of the go command lie.
type Store struct {
	Project string                 // of this project, kept between runs, written by the harness's own commands only
	Shared  string                 // the same for all projects
	Scratch string                 // of this run
	Go      *ecosystem.GoToolchain // nil: this machine has none
	Closed  bool                   // the head is not trusted: only the download of the base's modules gets what the operator has downloaded
	Now     func() time.Time
}
