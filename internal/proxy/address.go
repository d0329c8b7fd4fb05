package proxy

import (
	"net/netip"
	"slices"
)

// nowhere are networks that are not public though net/netip knows no name for
// what they are: documentation, carriers, benchmarks, clouds' own services, and
// ways to write an IPv4 address in IPv6 that a gateway may turn back.
var nowhere = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range all {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// Public reports whether an address is one of the public network: not of this
// machine, this network, or a cloud's service that gives machines their secrets.
func Public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || ip.Zone() != "" || !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() {
		return false
	}
	return !slices.ContainsFunc(nowhere, func(p netip.Prefix) bool { return p.Contains(ip) })
}
