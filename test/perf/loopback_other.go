//go:build !linux

package main

import "errors"

func loopbackOnly() error { return errors.New("a network of its own: only Linux has that") }
