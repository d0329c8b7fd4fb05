package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What no verification needs is refused, however it is dressed.
func TestCheckShellRefuses(t *testing.T) {
	t.Parallel()
	for command, rule := range map[string]string{
		"rm -rf /":                              "wipe",
		"rm -rf /*":                             "wipe",
		"rm -fr -- /":                           "wipe",
		"rm -r --force /etc":                    "wipe",
		"rm -rf /usr/bin":                       "wipe",
		"rm -rf //":                             "wipe",
		"rm -rf /tmp/..":                        "wipe",
		"rm -rf ~":                              "wipe",
		"rm -rf ~/":                             "wipe",
		"rm -rf ~/*":                            "wipe",
		`rm -rf "$HOME"`:                        "wipe",
		"rm -rf ${HOME}/*":                      "wipe",
		"rm -rf /home/runner":                   "wipe",
		"rm --no-preserve-root -rf x":           "wipe",
		`r\m -rf /`:                             "wipe",
		`"rm" '-rf' "/"`:                        "wipe",
		"/bin/rm -rf /":                         "wipe",
		"cd /tmp && rm -rf /":                   "wipe",
		"true; (rm -rf /)":                      "wipe",
		"x=$(rm -rf /)":                         "wipe",
		"sh -c 'rm -rf /'":                      "wipe",
		"bash -euo pipefail -c 'rm -rf /'":      "wipe",
		"bash -lc \"sh -c 'rm -rf /'\"":         "wipe",
		"eval 'rm -rf /'":                       "wipe",
		"env A=1 timeout 5 rm -rf /":            "wipe",
		"env -S 'rm -rf /'":                     "wipe",
		"timeout -k 5 10 rm -rf /":              "wipe",
		"echo / | xargs -n 1 rm -rf /":          "wipe",
		"find . -exec rm -rf / \\;":             "wipe",
		"find / -delete":                        "wipe",
		"if true; then rm -rf /; fi":            "wipe",
		"bash -O extglob -c 'rm -rf /'":         "wipe",
		"/usr/sbin/halt":                        "machine down",
		"cd /; ../../sbin/reboot":               "machine down",
		"env /usr/bin/sudo ls":                  "privilege",
		"/proc/self/root/bin/su":                "privilege",
		"//bin//su":                             "privilege",
		"/usr/sbin/mkfs.ext4 x":                 "file system",
		"rm --recurs -f /":                      "wipe",
		"rm --no-pre -rf x":                     "wipe",
		"find -L / -delete":                     "wipe",
		"find -H -D exec -O2 / -delete":         "wipe",
		"mkfs.ext4 /dev/sda1":                   "file system",
		"mkfs -t ext4 x":                        "file system",
		"dd if=/dev/zero of=/dev/sda":           "raw device",
		"cat x > /dev/nvme0n1":                  "raw device",
		"echo x | tee /dev/sdb":                 "raw device",
		":(){ :|:& };:":                         "fork bomb",
		"bomb() { bomb | bomb & }; bomb":        "fork bomb",
		"f() { f & f & }; f":                    "fork bomb",
		"kill -9 -1":                            "kill all",
		"kill -s KILL -- -1":                    "kill all",
		"shutdown -h now":                       "machine down",
		"/sbin/reboot":                          "machine down",
		"init 0":                                "machine down",
		"systemctl poweroff":                    "machine down",
		"sudo make install":                     "privilege",
		"doas ls":                               "privilege",
		"pkexec ls":                             "privilege",
		"nohup sudo ls &":                       "privilege",
		"nice -n 10 sudo ls":                    "privilege",
		"stdbuf -oL sudo ls":                    "privilege",
		"stdbuf -o L sudo ls":                   "privilege",
		"timeout --foreground 60 sudo ls":       "privilege",
		"xargs -n1 sudo ls":                     "privilege",
		"while true; do sudo ls; done":          "privilege",
		"time sudo ls":                          "privilege",
		"ls || su root -c id":                   "privilege",
		"command sudo ls":                       "privilege",
		"trap 'rm -rf /' EXIT":                  "wipe",
		"cat <<EOF | bash -c 'sudo ls'\nx\nEOF": "privilege",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			d, _ := CheckShell(command)
			if d == nil || d.Rule != rule || d.Code != CodeHardFloor {
				t.Errorf("CheckShell(%q) = %+v, want rule %q", command, d, rule)
			}
		})
	}
	for what, text := range map[string]string{
		"too long": "echo " + strings.Repeat("x", 1<<20) + "; rm -rf /", "too deep": strings.Repeat("(", 1<<20) + "rm -rf /" + strings.Repeat(")", 1<<20),
	} {
		if d, _ := CheckShell(text); d == nil {
			t.Errorf("%s: not refused, though bash runs it", what)
		}
	}
}

// Ordinary commands pass, also when they speak of the forbidden ones.
func TestCheckShellLetsPass(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"go test ./...",
		"rm -rf build",
		"rm -rf ./node_modules /tmp/scratch/*",
		`rm -rf "$TMPDIR"`,
		`rm -rf "$TMPDIR/x" "${HOME}/.cache/x"`,
		"rm -rf /var/tmp/x",
		"rm -f /etc/x",
		"echo 'rm -rf /'",
		`grep -rn "sudo" .`,
		"git log --grep='rm -rf /'",
		"cat <<'EOF' > $TMPDIR/x\nsudo rm -rf /\nEOF",
		"# sudo\nls",
		"kill %1",
		"kill -9 12345",
		"kill -1 12345",
		"kill $!",
		"dd if=/dev/zero of=out bs=1 count=1",
		"echo x > /dev/null 2>&1",
		"f() { echo hi; }; f | cat",
		"fact() { [ $1 -le 1 ] && echo 1 || fact $(($1-1)); }; fact 3",
		"systemctl --version",
		"env FOO=reboot go test",
		"find . -name '*.tmp' -delete",
		"bash script.sh -c x",
		"bash -O extglob script.sh",
		"find -L . -delete",
		"./init 0",
		"./reboot",
		"./shutdown now",
		"./su x",
		"env ./halt",
		"bin/init 6",
		"../tools/su x",
		"/src/head/bin/reboot",
		"rm --rec -f build",
		"rm -f -",
		"xargs -a list ls",
		"init --help",
		"stdbuf -oL ./app shutdown",
		"timeout --foreground 60 ./srv reboot",
		"timeout -k5 60 ./srv reboot",
		"xargs -n1 grep sudo",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			if d, note := CheckShell(command); d != nil || note != "" {
				t.Errorf("CheckShell(%q) = %+v %q, want nothing", command, d, note)
			}
		})
	}
}

// A script that cannot be read is bash's to refuse; it is noted, not denied.
func TestCheckShellNotes(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"echo 'open", "if true; then", `eval "$x"`, `sh -c "$cmd"`} {
		if d, note := CheckShell(command); d != nil || note == "" {
			t.Errorf("CheckShell(%q) = %+v %q, want a note", command, d, note)
		}
	}
}

// Execution needs mode, trust and sandbox; nothing grants writing.
func TestGrant(t *testing.T) {
	t.Parallel()
	reading, running := Set{"read", "git_read", "session"}, Set{"read", "git_read", "session", "exec"}
	for _, tt := range []struct {
		mode, trust string
		sandboxOK   bool
		want        Set
	}{
		{ModeVerify, Trusted, true, running},
		{ModeVerify, Untrusted, true, running},
		{ModeVerify, Local, true, running},
		{ModeVerify, Untrusted, false, reading},
		{ModeVerify, Local, false, reading},
		{ModePlan, Trusted, true, reading},
		{ModeVerify, "", true, reading},
		{"", Trusted, true, reading},
		{"yolo", Trusted, true, reading},
	} {
		if diff := cmp.Diff(tt.want, Grant(tt.mode, tt.trust, tt.sandboxOK)); diff != "" {
			t.Errorf("Grant(%q, %q, %v) (-want +got):\n%s", tt.mode, tt.trust, tt.sandboxOK, diff)
		}
	}
}

// Denials come in the order of the decision chain, and every one has a code.
func TestDecide(t *testing.T) {
	t.Parallel()
	full := Grant(ModeVerify, Trusted, true)
	for _, tt := range []struct {
		name  string
		call  Call
		grant Set
		want  string
	}{
		{"offered read", Call{Known: true, Offered: true, Class: "read", Mode: ModeVerify}, full, ""},
		{"offered exec", Call{Known: true, Offered: true, Class: "exec", Mode: ModeVerify, Command: "ls"}, full, ""},
		{"unknown name", Call{Mode: ModeVerify}, full, CodeNotProvisioned},
		{"write, though granted and offered", Call{Known: true, Offered: true, Class: "write", Mode: ModeVerify}, append(Set{"write"}, full...), CodeBackground},
		{"git_write", Call{Known: true, Class: "git_write"}, full, CodeBackground},
		{"publish", Call{Known: true, Class: "publish"}, full, CodeBackground},
		{"hard floor before the mode", Call{Known: true, Offered: true, Class: "exec", Mode: ModePlan, Command: "sudo ls"}, full, CodeHardFloor},
		{"exec in plan mode", Call{Known: true, Offered: true, Class: "exec", Mode: ModePlan, Command: "ls"}, full, CodePlanMode},
		{"exec without sandbox", Call{Known: true, Offered: true, Class: "exec", Mode: ModeVerify, Command: "ls"}, Grant(ModeVerify, Untrusted, false), CodeSandbox},
		{"net", Call{Known: true, Offered: true, Class: "net", Mode: ModeVerify}, full, CodeBackground},
		{"delegate for a child", Call{Known: true, Offered: true, Class: "delegate", Mode: ModeVerify}, full, CodeBackground},
		{"delegate for a coordinator", Call{Known: true, Offered: true, Class: "delegate", Mode: ModeVerify}, append(Set{"delegate"}, full...), ""},
		{"known but not given to this agent", Call{Known: true, Class: "exec", Mode: ModeVerify, Command: "ls"}, full, CodeNotProvisioned},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if d := Decide(tt.call, tt.grant); d != nil {
				got = d.Code
				if d.Rule == "" || d.Reason == "" || d.Hint == "" {
					t.Errorf("denial %+v lacks a word", d)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
