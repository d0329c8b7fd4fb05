package checks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/cmdline"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// Bounds for requests to servers.
const (
	maxRequests = 20 // of a program
	maxServers  = 2  // command lines that are tried as those of a server, of a program
	startLimit  = 20 * time.Second
	maxAnswer   = 64 << 10 // bytes
)

// Reasons for which requests are left out.
const (
	unanswered = "the base does not answer them"
	varying    = "their answers differ from themselves"
)

// A request is one that stands in the base's tree, or that of the top of a server.
type request struct {
	cmdline.Request
	path string // where it stands; empty: nowhere
}

func (q request) text() string { return q.Method + " " + q.Target }

// requests are those of the base's tree, those near what changed first.
func (u *use) requests() []request {
	out := []request{{Request: cmdline.Request{Method: "GET", Target: "/"}}}
	read := 0
	for _, name := range u.near(u.in.Files[Base]) {
		test := languages.IsTestSource(name)
		if !cmdline.Holds(name, test) || read == maxTexts || len(out) == maxRequests {
			continue
		}
		src, err := ecosystem.ReadInTree(u.in.Base.Dir, name)
		if err != nil || len(src) > maxText {
			continue
		}
		read++
		for _, r := range cmdline.Requests(name, src, test) {
			at := slices.IndexFunc(out, func(o request) bool { return o.Same(r) })
			switch {
			case at >= 0 && out[at].path == "":
				out[at] = request{r, name}
			case at < 0 && len(out) < maxRequests:
				out = append(out, request{r, name})
			}
		}
	}
	return out
}

// A served is one run of a server.
type served struct {
	start   string // as a person types it
	port    int    // that requests are sent to which name no other; 0: it did not listen
	ports   int    // it listens on so many
	answers []answer
	errors  string // what it printed
	step    Step
}

// serve compares what a server answers on both sides. The line that starts it does not end
// on the base; where it does not listen there, either, it is no server, and left out. False:
// there is no time.
func (u *use) serve(ctx context.Context, p provided, l line) (bool, error) {
	asked := u.requests()
	want := 0
	for _, q := range asked {
		want = cmp.Or(want, q.Port)
	}
	runs := map[Side][]served{}
	var evidence []string
	for n := range lineRuns {
		for _, side := range []Side{Base, Head} {
			if u.until.Sub(u.in.Now()) <= 0 || ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			got, err := u.ask(ctx, side, p, l, asked, want)
			if err != nil {
				return false, err
			}
			if got.step.Limited() {
				u.leave(limited, l.text)
				return true, nil
			}
			if got.port == 0 && side == Base {
				u.leave(slow, l.text)
				return true, nil
			}
			if len(runs[Base]) == 0 {
				want = got.port
			}
			runs[side] = append(runs[side], got)
			evidence = append(evidence, got.step.Evidence)
		}
		u.out.Command = runs[Head][n].step.Command
		if n == 0 {
			u.out.Evidence = append(u.out.Evidence, evidence...)
			if runs[Base][0].same(runs[Head][0]) {
				break
			}
		}
	}
	u.servers[p.sides[Base].Name] = maxServers // another way to start it would be asked the same
	if !slices.ContainsFunc(runs[Head], func(s served) bool { return s.port != 0 }) {
		u.judgeStart(l, runs[Head], evidence)
		return true, nil
	}
	for i, q := range asked {
		u.judgeAnswers(l, q, i, runs, evidence)
	}
	return true, nil
}

// ask starts a server on a side as it was prepared, sends the requests one after the
// other, and ends it. It is expected to listen on the port that is wanted; 0: on any.
func (u *use) ask(ctx context.Context, side Side, p provided, l line, asked []request, want int) (served, error) {
	script, text, err := u.started(ctx, side, p, l)
	if err != nil {
		return served{}, err
	}
	mark := fmt.Sprintf("%.12x", sha256.Sum256([]byte(text+l.path)))
	var send strings.Builder
	var names []string
	for _, q := range asked {
		message, err := syntax.Quote(q.Message("localhost:"+portMark), syntax.LangBash)
		if err != nil {
			return served{}, fmt.Errorf("request %s: %w", q.text(), err)
		}
		fmt.Fprintf(&send, "ask %d %s\n", q.Port, message)
		names = append(names, q.text())
	}
	limit, left := lineLimit, u.until.Sub(u.in.Now())
	if side == Head {
		limit = callLimit
	}
	whole := strings.NewReplacer(
		"@START@", script, "@MARK@", mark, "@TRIES@", strconv.Itoa(int(startLimit/(100*time.Millisecond))),
		"@LIMIT@", strconv.Itoa(int(limit/time.Second)), "@MOST@", strconv.Itoa(maxAnswer), "@WANT@", strconv.Itoa(want), "@ASK@", send.String(),
	).Replace(asking)
	var stdout bytes.Buffer
	stderr := cmdline.Stream{Clean: u.clean(side).Replace}
	step, err := u.in.Exec(ctx, side, ecosystem.Command{
		Stage: StageProbe, Unit: l.dir, Eco: p.sides[side].Eco, Text: text + " # asked for " + strings.Join(names, ", "), Argv: []string{"bash", "--noprofile", "--norc", "-c", whole},
		Env: plainEnv(), Timeout: min(startLimit+min(callLimit*time.Duration(len(asked)), left), u.in.StepLimit), Stderr: &stderr,
	}, &stdout)
	if err != nil {
		return served{}, err
	}
	out := readAnswers(stdout.String(), mark)
	out.start, out.step, out.errors = text, step, stderr.String()
	for i := range out.answers {
		out.answers[i].text = u.clean(side).Replace(out.answers[i].text)
	}
	return out, nil
}

// portMark stands for the port of a server, which is known when it listens.
const portMark = "@THE-PORT@"

// asking starts a server, looks which ports it listens on that nothing listened on before,
// for two seconds longer where the one that is wanted is not among them, sends it requests
// and prints what it answers, with a line behind each that has its mark.
const asking = `listening() {
  local at state line
  command -p cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ at _ state line; do
    [ "$state" = 0A ] && echo $((16#${at##*:}))
  done
}
old=" $(listening | command -p tr '\n' ' ') "
( @START@ ) </dev/null >&2 &
server=$!
ports= seen=0
for ((i = 0; i < @TRIES@; i++)); do
  ports=
  for p in $(listening | command -p sort -nu); do [[ $old == *" $p "* ]] || ports="$ports $p "; done
  [[ $ports != *" @WANT@ "* ]] || break
  if [ -n "$ports" ] && { [ @WANT@ = 0 ] || ((++seen > 20)); }; then break; fi
  kill -0 "$server" 2>/dev/null || break
  command -p sleep 0.1
done
set -- $ports
first=$1
[[ $ports != *" @WANT@ "* ]] || first=@WANT@
echo "@MARK@ listens ${first:-0} $#"
late=0
ask() {
  local port=$first fd status=7 began gone=0 host
  [[ $ports == *" $1 "* ]] && port=$1
  if [ "$late" -ge 2 ] || ! kill -0 "$server" 2>/dev/null; then return; fi
  began=${EPOCHREALTIME/[.,]/}
  for host in 127.0.0.1 ::1; do
    if { exec {fd}<>"/dev/tcp/$host/$port"; } 2>/dev/null; then
      printf %s "${2//` + portMark + `/$port}" >&"$fd"
      command -p timeout @LIMIT@ cat <&"$fd" | command -p head -c @MOST@
      status=${PIPESTATUS[0]}
      exec {fd}>&-
      break
    fi
  done
  [ "$status" = 124 ] && late=$((late + 1))
  began=$((${EPOCHREALTIME/[.,]/} - began))
  [ "$status" = 124 ] || command -p sleep 0.05 # one that ends its connections has not quite ended
  kill -0 "$server" 2>/dev/null || gone=1
  printf '\n%s answered %s %s %s\n' @MARK@ "$status" "$began" "$gone"
}
trap '' PIPE
@ASK@
kill "$server" 2>/dev/null
command -p sleep 0.2
kill -KILL "$server" 2>/dev/null
exit 0
`
