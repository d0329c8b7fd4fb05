package gate

import (
	"fmt"
	"os"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// environments are messages of tools that fail for want of something outside of
// the change: the failure says nothing about it.
var environments = pattern.New(`(?i)dial tcp|lookup [^ ]+( on [^ ]+)?: |no such host|network is unreachable|connection refused|i/o timeout|TLS handshake timeout|` +
	`temporary failure in name resolution|could not resolve host|unrecognized import path|module lookup disabled by GOPROXY=off|` +
	`requires go >= |EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH|socket hang up|connection reset by peer|no space left on device|command not found|executable file not found|` +
	`connection timed out|read timed out|NewConnectionError|Max retries exceeded with url|UnknownHostException|spurious network error|failed to connect to|certificate verify failed|unable to get local issuer certificate|` +
	`could not read Username|terminal prompts disabled|Permission denied \(publickey|Host key verification failed|` +
	`\b(429 Too Many Requests|50[0234] (Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout))`)

// environment returns the line of output that shows such a failure, or "".
func environment(output string) string {
	for line := range strings.Lines(output) {
		if environments.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func joinOutput(a, b string) string {
	if a != "" && b != "" && !strings.HasSuffix(a, "\n") {
		a += "\n"
	}
	return a + b
}

// listed names the first n of names.
func listed(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func mkdirs(dirs ...string) error {
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	return nil
}
