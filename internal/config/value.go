package config

import (
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/pattern"
)

// maxItems is how many entries a list may have.
const maxItems = 100

// A check says what is wrong with a text, "" for nothing.
type check func(s string) string

// version accepts the one version there is; document.version has seen to others.
func version(d *document, n *yaml.Node, path string) {
	if !isScalar(n, "!!int") {
		d.wrongType(n, path, "the number 1")
	}
}

func boolean(to *bool) setter {
	return func(d *document, n *yaml.Node, path string) {
		if !isScalar(n, "!!bool") {
			d.wrongType(n, path, "true or false")
			return
		}
		*to = strings.EqualFold(n.Value, "true")
	}
}

func count(to *int) setter {
	const want = "a whole number greater than 0"
	return func(d *document, n *yaml.Node, path string) {
		v, err := strconv.Atoi(n.Value)
		if !isScalar(n, "!!int") || err != nil || v <= 0 {
			d.wrongType(n, path, want)
			return
		}
		*to = v
	}
}

// countOrNone is count, and 0 for no bound of its own.
func countOrNone(to *int) setter {
	const want = "a whole number of 0 or more"
	return func(d *document, n *yaml.Node, path string) {
		v, err := strconv.Atoi(n.Value)
		if !isScalar(n, "!!int") || err != nil || v < 0 {
			d.wrongType(n, path, want)
			return
		}
		*to = v
	}
}

func dollars(to *float64) setter {
	const want = "an amount greater than 0"
	return func(d *document, n *yaml.Node, path string) {
		v, err := strconv.ParseFloat(n.Value, 64)
		if !isScalar(n, "!!int", "!!float") || err != nil || !(v > 0) || math.IsInf(v, 0) { // a NaN is not greater either
			d.wrongType(n, path, want)
			return
		}
		*to = v
	}
}

func duration(to *time.Duration) setter {
	const want = "a duration greater than 0, such as 20m or 1h30m"
	return func(d *document, n *yaml.Node, path string) {
		if !isScalar(n, "!!str") {
			d.wrongType(n, path, want)
			return
		}
		v, err := time.ParseDuration(n.Value)
		if err != nil || v <= 0 {
			d.at(n, path, "want %s, found %q", want, shorten(n.Value))
			return
		}
		*to = v
	}
}

// text reads a text that ok accepts.
func text[T ~string](to *T, ok check) setter {
	return func(d *document, n *yaml.Node, path string) {
		if d.text(n, path, "text", ok) {
			*to = T(n.Value)
		}
	}
}

// list reads a list of texts that ok accepts, none of them twice.
func list[T ~string](to *[]T, ok check) setter {
	return func(d *document, n *yaml.Node, path string) {
		items, good := readList[T](d, n, path, "a list", ok)
		for i, item := range items {
			if slices.Contains(items[:i], item) {
				d.at(n.Content[i], path, "%q stands here twice", shorten(string(item)))
				good = false
			}
		}
		if good {
			*to = items
		}
	}
}

// commands reads one command or a list of them, in which one may be repeated.
func commands(to *[]string) setter {
	return func(d *document, n *yaml.Node, path string) {
		if n.Kind == yaml.ScalarNode {
			if d.text(n, path, "a command or a list of commands", command) {
				*to = []string{n.Value}
			}
			return
		}
		if items, good := readList[string](d, n, path, "a command or a list of commands", command); good {
			*to = items
		}
	}
}

// readList returns the items of a list, never nil where it is good.
func readList[T ~string](d *document, n *yaml.Node, path, want string, ok check) (items []T, good bool) {
	switch {
	case n.Kind != yaml.SequenceNode:
		d.wrongType(n, path, want)
		return nil, false
	case len(n.Content) > maxItems:
		d.at(n, path, "%d entries; at most %d are read", len(n.Content), maxItems)
		return nil, false
	}
	items, good = make([]T, 0, len(n.Content)), true
	for _, item := range n.Content {
		if !d.text(item, path, "text", ok) {
			good = false
		}
		items = append(items, T(item.Value))
	}
	return items, good
}

// text reports whether n is a text that ok accepts, and says why where it is not.
func (d *document) text(n *yaml.Node, path, want string, ok check) bool {
	if !isScalar(n, "!!str") {
		if n.Kind == yaml.ScalarNode && !isEmpty(n) {
			want += " (in quotes)"
		}
		d.wrongType(n, path, want)
		return false
	}
	if wrong := ok(n.Value); wrong != "" {
		d.at(n, path, "%s", wrong)
		return false
	}
	return true
}

// among accepts a closed list of words.
func among[T ~string](words ...T) check {
	return func(s string) string {
		if slices.Contains(words, T(s)) {
			return ""
		}
		var names []string
		for _, w := range words {
			names = append(names, string(w))
		}
		return "want one of " + strings.Join(names, ", ") + "; found " + strconv.Quote(shorten(s))
	}
}

func command(s string) string {
	const most = 16 << 10
	switch {
	case strings.TrimSpace(s) == "":
		return "an empty command; an empty list [] leaves the step out"
	case len(s) > most:
		return "a command of over 16 KiB; put it into a script"
	case strings.ContainsRune(s, 0):
		return "a command with a zero byte"
	}
	return ""
}

// glob accepts patterns that doublestar reads and that cannot take long: every
// group in braces multiplies the ways to match.
func glob(s string) string {
	const longest, groups, commas = 256, 2, 30
	switch {
	case s == "":
		return "an empty pattern"
	case len(s) > longest:
		return "a pattern of over 256 bytes"
	case strings.HasPrefix(s, "!"):
		return "patterns cannot be negated"
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"):
		return "patterns begin at the top of the repository: leave out the leading " + s[:strings.Index(s, "/")+1]
	case strings.Count(s, "{") > groups, strings.Count(s, ",") > commas:
		return "a pattern has at most 2 groups in braces and 30 commas; write several patterns"
	case !doublestar.ValidatePattern(s):
		return "not a pattern that can be read: " + strconv.Quote(s)
	}
	return ""
}

var hostName = pattern.New(`^(?i:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(?i:\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

// hostPort accepts a host that can be a service of the job, with its port. The
// addresses that clouds hand out credentials on are none.
func hostPort(s string) string {
	const want = "want host:port, such as localhost:5432; found "
	host, port, err := net.SplitHostPort(s)
	if err != nil || len(s) > 300 {
		return want + strconv.Quote(shorten(s))
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil || p == 0 {
		return "want a port from 1 to 65535, found " + strconv.Quote(shorten(port))
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && (ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast()),
		strings.EqualFold(host, "metadata.google.internal"):
		return strconv.Quote(shorten(host)) + " cannot be a service of the job"
	case err == nil && !ip.Unmap().IsLoopback():
		return strconv.Quote(shorten(host)) + " is an address of another machine, which cannot be taken over inside the sandbox: use a name"
	case err != nil && !hostName.MatchString(host):
		return want + strconv.Quote(shorten(s))
	case p < leastPort:
		return fmt.Sprintf("ports below %d cannot be used inside the sandbox, found %d", leastPort, p)
	}
	return ""
}

// leastPort is the lowest port that a process without privileges may listen on, as the
// sandbox has it where a run begins.
const leastPort = 1024

// services reads a list of services, which are side by side on the loopback interface of a
// command: all names on 127.0.0.1.
func services(to *[]string) setter {
	return func(d *document, n *yaml.Node, path string) {
		before := len(d.problems)
		list(to, hostPort)(d, n, path)
		if len(d.problems) > before {
			return
		}
		seen := map[string]string{}
		for _, item := range n.Content {
			host, port, _ := net.SplitHostPort(item.Value)
			here := "127.0.0.1"
			if ip, err := netip.ParseAddr(host); err == nil {
				here = ip.Unmap().String()
			}
			here = net.JoinHostPort(here, port)
			if other, ok := seen[here]; ok {
				d.at(item, path, "%q and %q would both be %s for a command: give one another port", other, item.Value, here)
			}
			seen[here] = item.Value
		}
	}
}

var modelPattern = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$`)

// modelName accepts the name of a model, which is no address: where a model is
// asked is the operator's to say.
func modelName(s string) string {
	if !modelPattern.MatchString(s) || strings.Contains(s, "://") {
		return "not the name of a model: " + strconv.Quote(shorten(s))
	}
	return ""
}

// loginPattern is what GitHub lets an account be called, and what it puts behind the
// name of an app.
var loginPattern = pattern.New(`^[A-Za-z0-9](?:[A-Za-z0-9]|-[A-Za-z0-9]){0,38}(?:_[A-Za-z0-9]+)?(?:\[bot\])?$`)

func login(s string) string {
	if !loginPattern.MatchString(s) {
		return "not the login of an account: " + strconv.Quote(shorten(s))
	}
	return ""
}

var agentPattern = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

func agentName(s string) string {
	if !agentPattern.MatchString(s) {
		return "not the name of an agent (letters, digits, - and _): " + strconv.Quote(shorten(s))
	}
	return ""
}

// verifiers reads a number of verifications, or auto.
func verifiers(to *Verifiers) setter {
	want := fmt.Sprintf("auto, or a number from 1 to %d", MostVerifiers)
	return func(d *document, n *yaml.Node, path string) {
		v, err := strconv.Atoi(n.Value)
		switch {
		case isScalar(n, "!!str") && n.Value == "auto":
			*to = VerifiersAuto
		case !isScalar(n, "!!int") || err != nil || v < 1 || Verifiers(v) > MostVerifiers:
			d.wrongType(n, path, want)
		default:
			*to = Verifiers(v)
		}
	}
}

// filePath accepts the path of a file of the repository.
func filePath(s string) string {
	const longest = 256
	switch {
	case s == "", len(s) > longest, strings.ContainsAny(s, "\x00\\"), s != path.Clean(s), !fs.ValidPath(s):
		return "not the path of a file from the top of the repository: " + strconv.Quote(shorten(s))
	}
	return ""
}

// agents reads the list of agents to run and, beside it, the settings of each
// by its name.
func agents(to *Agents) setter {
	return func(d *document, n *yaml.Node, path string) {
		d.mapping(n, path, func(key, value *yaml.Node) {
			where := join(path, plain(key.Value))
			switch key.Value {
			case "run":
				list(&to.Run, agentName)(d, value, where)
				return
			case "verifiers":
				verifiers(&to.Verifiers)(d, value, where)
				return
			}
			if wrong := agentName(key.Value); wrong != "" {
				d.at(key, path, "%s", wrong)
				return
			}
			a := to.Settings[key.Value]
			d.section(value, where, agentSection(&a))
			if to.Settings == nil {
				to.Settings = map[string]Agent{}
			}
			to.Settings[key.Value] = a
		})
	}
}
