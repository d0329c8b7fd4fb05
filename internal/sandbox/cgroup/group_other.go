//go:build !linux

package cgroup

// A Group is of Linux.
type Group struct{}

// Kill does nothing.
func (*Group) Kill() {}

// OutOfMemory says no.
func (*Group) OutOfMemory() bool { return false }
