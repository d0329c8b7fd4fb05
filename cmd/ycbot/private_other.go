//go:build !linux

package main

import (
	"os"

	"github.com/ycbot/ycbot/internal/redact"
)

// keepPrivate takes the secrets of env out of this process's environment.
func keepPrivate(env []string) error {
	for name := range redact.SecretsFrom(env) {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}
