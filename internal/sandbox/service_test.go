package sandbox_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// A book resolves the names that it has.
type book map[string]string

func (b book) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, text := range strings.Fields(b[host]) {
		out = append(out, netip.MustParseAddr(text))
	}
	if out == nil {
		return nil, fmt.Errorf("no such host: %s", host)
	}
	return out, nil
}

// Addresses where clouds hand out credentials are no services, under whatever
// name, nor is what a command could not distinguish.
func TestFindServicesRefuses(t *testing.T) {
	t.Parallel()
	names := book{
		"localhost": "::1 127.0.0.1", "db": "10.0.0.7", "other": "10.0.0.8", "aws": "169.254.169.254", "aws6": "fd00:ec2::254",
		"mapped": "::ffff:169.254.169.254", "alibaba": "100.100.100.200", "oracle": "192.0.0.192", "local6": "fe80::1",
		"second": "10.0.0.9 169.254.170.2", "any": "0.0.0.0", "many": "224.0.0.1",
	}
	for list, want := range map[string]string{
		"localhost:5432 db:6379":    "",
		"localhost:5432 [::1]:5433": "",
		"aws:8080":                  "link-local",
		"mapped:8080":               "link-local",
		"local6:8080":               "link-local",
		"second:8080":               "link-local",
		"aws6:8080":                 "credentials",
		"alibaba:8080":              "credentials",
		"oracle:8080":               "credentials",
		"any:8080":                  "not the address of one machine",
		"many:8080":                 "not the address of one machine",
		"169.254.169.254:8080":      "use a name",
		"10.0.0.7:5432":             "use a name",
		"unknown:5432":              "no such host",
		"localhost:80":              "below 1024",
		"localhost:70000":           "out of range",
		"localhost":                 "missing port",
		"db:5432 other:5432":        "give one another port",
	} {
		got, err := sandbox.FindServices(t.Context(), names, strings.Fields(list))
		switch {
		case want == "" && (err != nil || len(got) != 2):
			t.Errorf("%s: %v, %v", list, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", list, err, want)
		}
	}
}

// A name is resolved once, and IPv4 is tried first.
func TestFindServices(t *testing.T) {
	t.Parallel()
	names := book{"localhost": "::1 127.0.0.1"}
	got, err := sandbox.FindServices(t.Context(), names, []string{"localhost:5432", "localhost:5432"})
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	names["localhost"] = "10.0.0.1"
	if d := cmp.Diff("[127.0.0.1 ::1]", fmt.Sprint(got[0].At)); d != "" {
		t.Error(d)
	}
}
