package checks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/cmdline"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
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
	moody      = "their answers differ from themselves"
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
		test := ecosystem.IsTestSource(name)
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

// An answer is what a server said to one request.
type answer struct {
	text string
	late bool          // it was still not whole after its time
	took time.Duration // until it was
	gone bool          // the server ended
}

var answerStatus = pattern.New(`^HTTP/1\.[01] (\d{3})`)

// status is the status code; 0: there is no answer.
func (a answer) status() int {
	if m := answerStatus.FindStringSubmatch(a.text); m != nil {
		n, _ := strconv.Atoi(m[1]) // three digits
		return n
	}
	return 0
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

// serve compares what a server answers on both sides. A line starts it that does not end
// on the base. What is found counts as asked only where the base listens.
func (u *use) serve(ctx context.Context, p provided, l line) (bool, error) {
	asked := u.requests()
	runs := map[Side][]served{}
	var evidence []string
	for n := range lineRuns {
		for _, side := range []Side{Base, Head} {
			if u.until.Sub(u.in.Now()) <= 0 || ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			want := 0
			for _, q := range asked {
				want = cmp.Or(want, q.Port)
			}
			if len(runs[Base]) > 0 {
				want = runs[Base][0].port
			}
			got, err := u.ask(ctx, side, p, l, asked, want)
			if err != nil {
				return false, err
			}
			if got.port == 0 && side == Base {
				u.leave(slow, l.text)
				return true, nil
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

// judgeStart says that a server listens on the base and in no run on the head. It breaks
// nothing by itself: a change may need what is not here, such as a variable or a database.
func (u *use) judgeStart(l line, head []served, evidence []string) {
	_, touched := u.stands(l)
	d := LineDifference{
		Line: l.text, Path: l.path, At: l.at, Command: head[0].start, Evidence: evidence, Expected: touched,
		Was: "answers requests", Is: "does not listen",
	}
	if why := ecosystem.FailureLine(head[0].errors); why != "" {
		d.Is += ": " + shown(why)
	}
	u.out.Lines++
	u.out.Differences = append(u.out.Differences, d)
}

// same says whether two runs give the same answers.
func (s served) same(o served) bool {
	return s.port != 0 && o.port != 0 && slices.EqualFunc(s.answers, o.answers, func(a, b answer) bool {
		return a.text == b.text && a.late == b.late && a.gone == b.gone
	})
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
	limit := lineLimit
	if side == Head {
		limit = callLimit
	}
	whole := strings.NewReplacer(
		"@START@", script, "@MARK@", mark, "@TRIES@", strconv.Itoa(int(startLimit/(100*time.Millisecond))),
		"@LIMIT@", strconv.Itoa(int(limit/time.Second)), "@MOST@", strconv.Itoa(maxAnswer), "@PORT@", portMark, "@WANT@", strconv.Itoa(want), "@ASK@", send.String(),
	).Replace(asking)
	var stdout, stderr bytes.Buffer
	step, err := u.in.Exec(ctx, side, ecosystem.Command{
		Stage: StageProbe, Unit: l.dir, Eco: p.sides[side].Eco, Text: text + " # asked for " + strings.Join(names, ", "), Argv: []string{"bash", "--noprofile", "--norc", "-c", whole},
		Env: plainEnv(), Timeout: min(startLimit+callLimit*time.Duration(len(asked)), u.in.StepLimit), Stderr: &stderr,
	}, &stdout)
	if err != nil {
		return served{}, err
	}
	out := readAnswers(stdout.String(), mark)
	out.start, out.step, out.errors = text, step, u.clean(side).Replace(stderr.String())
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
      printf %s "${2//@PORT@/$port}" >&"$fd"
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

// unlike are the fields of an answer that say when it was given, what times the files of a
// tree have, or what its body says, too.
var unlike = pattern.New(`(?mi)^(date|last-modified|etag|content-length): .*\r?\n`)

// readAnswers reads what asking printed.
func readAnswers(text, mark string) served {
	var out served
	var body strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, mark+" ")
		f := strings.Fields(rest)
		switch {
		case ok && len(f) == 3 && f[0] == "listens":
			out.port, _ = strconv.Atoi(f[1]) // 0: it does not
			out.ports, _ = strconv.Atoi(f[2])
			body.Reset()
		case ok && len(f) == 4 && f[0] == "answered":
			micros, _ := strconv.Atoi(f[2])
			head, rest, _ := strings.Cut(strings.TrimSuffix(body.String(), "\n"), "\r\n\r\n")
			a := answer{text: unlike.ReplaceAllString(head+"\r\n", "") + "\r\n" + rest, late: f[1] == "124", took: time.Duration(micros) * time.Microsecond, gone: f[3] == "1"}
			if head+rest == "" {
				a.text = ""
			}
			out.answers = append(out.answers, a)
			body.Reset()
		default:
			body.WriteString(line)
		}
	}
	return out
}

// judgeAnswers says how the answer to one request differs, where its runs agree about that.
func (u *use) judgeAnswers(l line, q request, i int, runs map[Side][]served, evidence []string) {
	all := map[Side][]answer{}
	port := runs[Base][0].port
	for side, list := range runs {
		for _, s := range list {
			a := answer{gone: true} // it had ended before
			if i < len(s.answers) {
				a = s.answers[i]
			}
			all[side] = append(all[side], a)
		}
	}
	base, head := all[Base], all[Head]
	name := q.text() + " to " + l.text
	if slices.ContainsFunc(base, func(a answer) bool { return a.status() == 0 || a.late || a.gone }) {
		if q.path != "" {
			u.leave(unanswered, name)
		}
		return
	}
	if !slices.ContainsFunc(runs[Head], func(s served) bool { return i < len(s.answers) }) {
		return // it had ended, or hung, at one before
	}
	agree := func(list []answer) bool {
		return !slices.ContainsFunc(list, func(a answer) bool {
			return a.status() != list[0].status() || a.late != list[0].late || a.gone != list[0].gone
		})
	}
	elsewhere := runs[Head][0].ports > 1 && runs[Head][0].port != port // no one knows which of them
	if !agree(base) || !agree(head) || elsewhere {
		u.leave(moody, name)
		return
	}
	d := LineDifference{
		Line: name, Request: true, Path: q.path, At: q.At, Evidence: evidence, Was: "answers " + strconv.Itoa(base[0].status()),
		Command: runs[Head][0].start + " & sleep 3; " + q.Curl(port),
	}
	stands, touched := u.stands(line{path: q.path, at: q.At})
	d.Expected = touched
	well := base[0].status() < 400
	switch b, h := base[0], head[0]; {
	case h.gone:
		d.Is = "ends the program: " + shown(ecosystem.FailureLine(runs[Head][0].errors))
		d.Breaks = well
	case h.late:
		d.Is = "does not end"
		d.Breaks = well && !slices.ContainsFunc(base, func(a answer) bool { return hangTimes*a.took > callLimit })
	case h.status() == 0:
		d.Is = "is not answered"
		d.Breaks = well
	case h.status() != b.status():
		d.Is = "answers " + strconv.Itoa(h.status())
	default:
		was, ok1 := cmdline.Read(texts(base)...)
		is, ok2 := cmdline.Read(texts(head)...)
		if !ok1 || !ok2 {
			u.leave(moody, name)
			return
		}
		from, to, other := was.Differs(is)
		if !other {
			u.asked++
			return
		}
		d.Was, d.Is = says("answers %s", from), says("answers %s", to)
	}
	d.Breaks = d.Breaks && stands && !touched
	u.asked++
	u.otherwise++
	u.out.Differences = append(u.out.Differences, d)
}

func texts(list []answer) []string {
	var out []string
	for _, a := range list {
		out = append(out, a.text)
	}
	return out
}

// started are a script that starts a program with the arguments of a line on a side, which
// has been brought back to what was prepared, and how a person types it.
func (u *use) started(ctx context.Context, side Side, p provided, l line) (script, text string, err error) {
	if err := u.in.Reset(ctx, side); err != nil {
		return "", "", err
	}
	by := p.sides[side]
	args := ""
	if len(l.args) > 0 {
		args = " " + ecosystem.ShellWords(ecosystem.Command{Argv: l.args})
	}
	up := "."
	if l.dir != "." {
		up = path.Clean(strings.Repeat("../", strings.Count(l.dir, "/")+1))
	}
	text = by.Start(up) + args
	if by.Make == "" {
		return "exec env " + text, text, nil
	}
	return "exec \"$HOME\"/" + laid(by) + args, text, u.lay(side, by, p.made[side])
}

// plainEnv is what is set for runs of programs on both sides.
func plainEnv() []string {
	return []string{"TZ=UTC", "LC_ALL=C.UTF-8", "LANG=C.UTF-8", "COLUMNS=80", "TERM=dumb", "PYTHONDONTWRITEBYTECODE=1"}
}

// clean takes what differs between sides by its place alone from what a program says.
func (u *use) clean(side Side) *strings.Replacer {
	return strings.NewReplacer(u.in.Home(side), "$HOME", u.in.tree(side).Dir, "$TREE")
}
