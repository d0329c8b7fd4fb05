// Package setup is what root does once, so that commands can be contained in tier full:
// bubblewrap, the profile that it may need, and a cgroup that is given to this program.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
)

// A Host is where [Steps] looks.
type Host struct {
	Root string // before every path of a file; empty: the machine's own

	UID, GID int    // whom a cgroup is delegated to
	Process  int    // also moved into the cgroup; 0: none
	Unit     string // of systemd, which delegates it instead; empty: none
}

// A Step is one thing that root has to do once.
type Step struct {
	What string // as it follows "will"
	// Do does it; what programs say goes to out.
	Do func(ctx context.Context, out io.Writer) error
}

const (
	bwrapPath    = "/usr/bin/bwrap"
	bwrapProfile = "/etc/apparmor.d/ycbot-bwrap"
	profileText  = `abi <abi/4.0>,
include <tunables/global>

# Lets bubblewrap make the user namespaces that ycbot runs commands in.
profile ycbot-bwrap ` + bwrapPath + ` flags=(unconfined) {
  userns,
}
`
)

// installers are the package managers that install bubblewrap, in the order of
// the search.
var installers = map[string][][]string{
	"apt-get": {{"apt-get", "-qq", "update"}, {"apt-get", "-qq", "-y", "--no-install-recommends", "install", "bubblewrap"}},
	"dnf":     {{"dnf", "-q", "-y", "install", "bubblewrap"}},
	"apk":     {{"apk", "add", "--quiet", "bubblewrap"}},
	"zypper":  {{"zypper", "-q", "-n", "install", "bubblewrap"}},
	"pacman":  {{"pacman", "-S", "--noconfirm", "--needed", "bubblewrap"}},
}

// Steps find out what tier full needs on h and root can give, without
// doing anything, and what it cannot or does not change. Where nothing has to be
// done there are no steps.
func Steps(h Host) (steps []Step, notes []string) {
	if _, err := findProgram(h, "bwrap"); err != nil {
		if s, ok := h.install(); ok {
			steps = append(steps, s)
		} else {
			notes = append(notes, "bubblewrap is missing, and there is no package manager that is known here; install it by hand")
		}
	}
	if h.setting("kernel/apparmor_restrict_unprivileged_userns") == "1" && !h.profiled() {
		steps = append(steps, Step{
			What: "write " + bwrapProfile + ", which lets " + bwrapPath + " make user namespaces, and load it with apparmor_parser",
			Do:   h.writeProfile,
		})
	}
	cgroup, lacking := h.cgroup()
	steps, notes = append(steps, cgroup...), append(notes, lacking...)
	for name, want := range map[string]string{"kernel/unprivileged_userns_clone": "1", "user/max_user_namespaces": "more than 0"} {
		if h.setting(name) == "0" {
			notes = append(notes, "the administrator has forbidden user namespaces: sysctl "+strings.ReplaceAll(name, "/", ".")+" is 0; tier full needs "+want)
		}
	}
	return steps, notes
}

// findProgram looks in the system directories alone, as the sandbox does.
func findProgram(h Host, name string) (string, error) {
	for _, dir := range toolchains.SystemBin() {
		file := filepath.Join(h.Root, dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", exec.ErrNotFound
}

func (h Host) install() (Step, bool) {
	for _, name := range []string{"apt-get", "dnf", "apk", "zypper", "pacman"} {
		if _, err := findProgram(h, name); err != nil {
			continue
		}
		return Step{
			What: "install the package bubblewrap with " + name,
			Do: func(ctx context.Context, out io.Writer) error {
				steps := installers[name]
				last := len(steps) - 1
				for _, argv := range steps[:last] { // fails where any of many sources cannot be read
					if err := h.command(ctx, out, argv); err != nil {
						fmt.Fprintf(out, "%s: %v; bubblewrap is asked for all the same\n", strings.Join(argv, " "), err)
					}
				}
				return h.command(ctx, out, steps[last])
			},
		}, true
	}
	return Step{}, false
}

// setting is the value of a kernel setting; empty where it is unknown.
func (h Host) setting(name string) string {
	text, err := os.ReadFile(filepath.Join(h.Root, "/proc/sys", name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// profiled reports whether a profile of AppArmor names bubblewrap already, ours or
// the distribution's.
func (h Host) profiled() bool {
	files, err := filepath.Glob(filepath.Join(h.Root, "/etc/apparmor.d/*"))
	if err != nil {
		return false
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), bwrapPath) {
			return true
		}
	}
	return false
}

func (h Host) writeProfile(ctx context.Context, out io.Writer) error {
	file := filepath.Join(h.Root, bwrapProfile)
	if err := os.WriteFile(file, []byte(profileText), 0o644); err != nil {
		return err
	}
	if err := h.command(ctx, out, []string{"apparmor_parser", "-r", file}); err != nil {
		// A profile that is there counts as loaded the next time.
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

func (h Host) command(ctx context.Context, out io.Writer, argv []string) error {
	program, err := findProgram(h, argv[0])
	if err != nil {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = []string{"PATH=" + strings.Join(toolchains.SystemBin(), ":"), "DEBIAN_FRONTEND=noninteractive", "LANG=C.UTF-8"}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}
