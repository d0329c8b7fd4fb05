package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A server that lacks a setting, or has two that contradict each other, does not start, says
// all that is wrong at once, and ends with 3.
func TestAppSettings(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	whole := []string{"YCBOT_APP_ID=1", "YCBOT_APP_PRIVATE_KEY=key", "YCBOT_WEBHOOK_SECRET=secret"}
	login := append(whole[:3:3], "YCBOT_CLIENT_ID=x", "YCBOT_CLIENT_SECRET=y", "YCBOT_SESSION_KEY="+strings.Repeat("k", 32))
	file := filepath.Join(home, "operator.yml")
	write(t, file, "version: 1\nrepositories: {deny: [acme]}\n")
	misspelled := filepath.Join(home, "ycbot.env")
	write(t, misspelled, "YCBOT_APP_ID=1\nYCBOT_LOGN=required\n")
	for _, test := range []struct {
		name string
		args []string
		env  []string
		want []string
	}{
		{"nothing", nil, nil, []string{"YCBOT_APP_ID is not set", "YCBOT_APP_PRIVATE_KEY", "YCBOT_WEBHOOK_SECRET is not set"}},
		{"no secret", nil, whole[:2], []string{"YCBOT_WEBHOOK_SECRET is not set"}},
		{"blank secret", nil, append(whole[:2:2], "YCBOT_WEBHOOK_SECRET= "), []string{"YCBOT_WEBHOOK_SECRET is not set"}},
		{"blank second secret", nil, append(whole[:3:3], "YCBOT_WEBHOOK_SECRET_PREVIOUS= "), []string{"YCBOT_WEBHOOK_SECRET_PREVIOUS is blank"}},
		{"short second key", nil, append(login[:6:6], "YCBOT_SESSION_KEY_PREVIOUS=short"), []string{"YCBOT_SESSION_KEY_PREVIOUS: want"}},
		{"denied", nil, append(whole[:3:3], "YCBOT_CONFIG="+file), []string{"YCBOT_CONFIG", "2:23: repositories.deny", "want OWNER/NAME"}},
		{"two keys", nil, append(whole[:3:3], "YCBOT_APP_PRIVATE_KEY_FILE=x"), []string{"both set"}},
		{"id", nil, append(whole[1:3:3], "YCBOT_APP_ID=ycbot"), []string{`YCBOT_APP_ID "ycbot"`}},
		{"database", nil, append(whole[:3:3], "DATABASE_URL=mysql://x"), []string{"DATABASE_URL: want postgres://"}},
		{"short secret", []string{"--addr", "256.0.0.1:1"}, whole, []string{`"level":"WARN","msg":"the webhook secret is short: use 32 random bytes`}},
		{"blobs", nil, append(whole[:3:3], "YCBOT_BLOB_URL=/srv/blobs"), []string{"YCBOT_BLOB_URL: want an address such as file:///"}},
		{"blobs by the name of before", nil, append(whole[:3:3], "YCBOT_BLOBS=/srv/blobs"), []string{"YCBOT_BLOB_URL: want an address such as file:///"}},
		{"retention", nil, append(whole[:3:3], "YCBOT_RETENTION=9"), []string{"YCBOT_RETENTION"}},
		{"public URL", nil, append(whole[:3:3], "YCBOT_PUBLIC_URL=ycbot.example.com"), []string{"YCBOT_PUBLIC_URL"}},
		{"addresses", nil, append(whole[:3:3], "YCBOT_ADDR=8080", "YCBOT_METRICS_ADDR=zzz"), []string{`YCBOT_ADDR "8080": want HOST:PORT`, `YCBOT_METRICS_ADDR "zzz": want HOST:PORT`}},
		{"allowed", nil, append(whole[:3:3], "YCBOT_ALLOW_REPOS=acme", "YCBOT_ALLOW_INSTALLATIONS=x"), []string{`YCBOT_ALLOW_REPOS "acme"`, `YCBOT_ALLOW_INSTALLATIONS "x"`}},
		{"no one works", []string{"--no-work"}, whole, []string{"--no-work needs PostgreSQL"}},
		{"no workers", []string{"--workers", "0"}, whole, []string{"--workers 0"}},
		{"misspelled in the file", []string{"--settings", misspelled}, whole, []string{"ycbot.env: line 2: ycbot reads no variable YCBOT_LOGN; did you mean YCBOT_LOGIN?"}},
		{"misspelled in the environment", nil, append(whole[:2:2], "YCBOT_WEBHOOK_SECRT=x"), []string{`"level":"WARN","msg":"unknown variable","problem":"ycbot reads no variable YCBOT_WEBHOOK_SECRT; did you mean YCBOT_WEBHOOK_SECRET?"`, "YCBOT_WEBHOOK_SECRET is not set"}},
		{"config", nil, append(whole[:3:3], "YCBOT_CONFIG=missing.yml"), []string{"YCBOT_CONFIG", "missing.yml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd := realProgram(t, home, append([]string{"app", "serve", "--data", filepath.Join(t.TempDir(), "data")}, test.args...)...)
			cmd.Env = append(cmd.Env, test.env...)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 3 {
				t.Errorf("exit code %d, want 3", code)
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("it says\n%s\nwant %q in it", out, want)
				}
			}
		})
	}
}
