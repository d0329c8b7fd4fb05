package web

import (
	"net/http"
	"net/netip"
	"sync"
)

// Places of those who watch. A stranger is a viewer without a login: those may not take the places of people who have one,
// nor may one address take all of theirs.
const (
	streamsAtOnce   = 500
	strangersAtOnce = 300 // of these
	perAddress      = 30  // strangers of an address
)

// places are those that are taken. The zero value has none taken.
type places struct {
	mu             sync.Mutex
	all, strangers int
	from           map[netip.Addr]int // strangers by address
}

// take takes a place, if there is one. The zero address is not known.
func (p *places) take(stranger bool, from netip.Addr) (release func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= streamsAtOnce || stranger && (p.strangers >= strangersAtOnce || from.IsValid() && p.from[from] >= perAddress) {
		return nil, false
	}
	p.add(stranger, from, 1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(stranger, from, -1)
	}, true
}

func (p *places) add(stranger bool, from netip.Addr, n int) {
	p.all += n
	if !stranger {
		return
	}
	p.strangers += n
	if p.from == nil {
		p.from = map[netip.Addr]int{}
	}
	if p.from[from] += n; p.from[from] == 0 {
		delete(p.from, from)
	}
}

// addressOf is where a request comes from; the zero address: not known, as it may be that of a proxy, which has one of
// its own network.
func addressOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	a := at.Addr().Unmap().WithZone("")
	if err != nil || a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() {
		return netip.Addr{}
	}
	if a.Is6() { // a network of one customer
		prefix, _ := a.Prefix(64)
		return prefix.Addr()
	}
	return a
}
