package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/redact"
)

// keepPrivate takes the secrets of env out of this process's environment, where
// other processes could read them, and keeps others of the same user from looking
// into it. The program goes on with env, which is memory of its own.
func keepPrivate(env []string) error {
	secrets := redact.SecretsFrom(env)
	for name := range secrets {
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("unset %s: %w", name, err)
		}
	}
	if len(secrets) > 0 {
		if err := eraseEnviron(secrets); err != nil {
			return fmt.Errorf("erase secrets from the environment: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("not dumpable: %w", err)
	}
	return nil
}

// eraseEnviron overwrites values in what /proc/self/environ shows: the memory in
// which the kernel put the environment, which unsetting a variable leaves alone.
func eraseEnviron(secrets map[string]string) error {
	text, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return err
	}
	start, err := environStart()
	if err != nil {
		return err
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	at := start
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		name, value, _ := strings.Cut(string(entry), "=")
		if _, secret := secrets[name]; secret {
			if _, err := mem.WriteAt(bytes.Repeat([]byte("*"), len(value)), at+int64(len(name))+1); err != nil {
				return err
			}
		}
		at += int64(len(entry)) + 1
	}
	return nil
}

// environStart is where the environment begins in memory (proc_pid_stat(5), field 50).
func environStart() (int64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	const field = 50 - 3 // behind the name the fields begin with the third
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) <= field {
		return 0, fmt.Errorf("/proc/self/stat has %d fields", len(f))
	}
	return strconv.ParseInt(f[field], 10, 64)
}
