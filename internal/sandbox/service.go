package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// A Service is a server of the job, such as a database, that commands may reach
// beside their own loopback interface. In tier full a command finds it on its
// loopback interface under the name and the port that Name gives, and nothing
// else of Host or of any other machine. In tier basic TCP is the host's, so a
// Service opens nothing; a name that only DNS knows cannot be resolved there.
type Service struct {
	Name string         // "host:port", as it was asked for
	Host string         // the first part of Name
	Port uint16         // the second
	At   []netip.Addr   // where it was found when the run began, in the order to be tried
	here netip.AddrPort // where the command finds it
}

// equal reports whether commands find the same server at the same place.
func (s Service) equal(o Service) bool {
	return s.here == o.here && s.Port == o.Port && slices.Equal(s.At, o.At)
}

// A Resolver looks names up, as [net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// leastPort is the first port that a process without privileges may listen on.
const leastPort = 1024

// FindServices resolves "host:port" names, once: what the names mean later
// changes nothing. It refuses addresses that are no service of a job, above all
// those where clouds hand out credentials.
func FindServices(ctx context.Context, r Resolver, names []string) ([]Service, error) {
	var out []Service
	for _, name := range names {
		s, err := findService(ctx, r, name)
		if err != nil {
			return nil, fmt.Errorf("service %s: %w", name, err)
		}
		for _, other := range out {
			if other.here == s.here && other.Name != s.Name {
				return nil, fmt.Errorf("services %s and %s: both would be %s for a command; give one another port", other.Name, s.Name, s.here)
			}
		}
		if !slices.ContainsFunc(out, func(o Service) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out, nil
}

func findService(ctx context.Context, r Resolver, name string) (Service, error) {
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		return Service{}, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil:
		return Service{}, fmt.Errorf("port %q: %w", port, err)
	case number < leastPort:
		return Service{}, fmt.Errorf("ports below %d cannot be used inside the sandbox", leastPort)
	}
	s := Service{Name: name, Host: strings.ToLower(host), Port: uint16(number)}
	literal, err := netip.ParseAddr(host)
	here := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if err == nil {
		here = literal.Unmap()
		if !here.IsLoopback() {
			return Service{}, errors.New("an address cannot be taken over inside the sandbox: use a name")
		}
		s.At = []netip.Addr{here}
	} else if s.At, err = r.LookupNetIP(ctx, "ip", host); err != nil {
		return Service{}, err
	}
	s.here = netip.AddrPortFrom(here, s.Port)
	for i, a := range s.At {
		s.At[i] = a.Unmap()
		if why := noService(s.At[i]); why != "" {
			return Service{}, fmt.Errorf("%s is %s", a, why)
		}
	}
	if len(s.At) == 0 {
		return Service{}, errors.New("no address")
	}
	// A server of a job often listens on IPv4 alone.
	sorted.By(s.At, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return s, nil
}

// metadata are addresses of clouds that are not link-local: those of AWS over
// IPv6, of Alibaba and of Oracle.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"),
}

// noService says why nothing at a is a service of a job; "" when it may be.
func noService(a netip.Addr) string {
	switch {
	case a.IsLinkLocalUnicast():
		return "a link-local address"
	case slices.Contains(metadata, a):
		return "where a cloud hands out credentials"
	case a.IsUnspecified(), a.IsMulticast(), a.Zone() != "":
		return "not the address of one machine"
	}
	return ""
}

// hostsFile is the host's /etc/hosts, data, with the names of services on the
// loopback interface; nil when no service has a name of its own.
func hostsFile(data []byte, services []Service) []byte {
	var names []string
	for _, s := range services {
		if _, err := netip.ParseAddr(s.Host); err != nil && s.Host != "localhost" {
			names = append(names, s.Host)
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	lines := []string{"127.0.0.1 localhost", "::1 localhost"}
	for _, name := range slices.Compact(names) {
		lines = append(lines, "127.0.0.1 "+name)
	}
	for line := range strings.Lines(string(data)) {
		// Some resolvers take every line that has the name.
		text, _, _ := strings.Cut(strings.TrimSpace(line), "#")
		fields := slices.DeleteFunc(strings.Fields(text), func(f string) bool {
			return f == "localhost" || slices.Contains(names, strings.ToLower(f))
		})
		if len(fields) > 1 {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
