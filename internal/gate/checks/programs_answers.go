package checks

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/cmdline"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

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

// same says whether two runs give the same answers.
func (s served) same(o served) bool {
	return s.port != 0 && o.port != 0 && slices.EqualFunc(s.answers, o.answers, func(a, b answer) bool {
		return a.text == b.text && a.late == b.late && a.gone == b.gone
	})
}

// ignored are the fields of an answer that say when it was given, what times the files of a
// tree have, or what its body says, too.
var ignored = pattern.New(`(?mi)^(date|last-modified|etag|content-length): .*\r?\n`)

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
			a := answer{text: ignored.ReplaceAllString(head+"\r\n", "") + "\r\n" + rest, late: f[1] == "124", took: time.Duration(micros) * time.Microsecond, gone: f[3] == "1"}
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

// judgeStart says that a server listens on the base and in no run on the head. It breaks
// nothing by itself: a change may need what is not here, such as a variable or a database.
func (u *use) judgeStart(l line, head []served, evidence []string) {
	d := LineDifference{Line: l.text, Command: head[0].start, Evidence: evidence, Was: "answers requests", Is: "does not listen"}
	_, d.Expected = u.stands(l, &d)
	if why := results.FailureLine(head[0].errors); why != "" {
		d.Is += ": " + shown(why)
	}
	u.out.Lines++
	u.out.Differences = append(u.out.Differences, d)
}

// judgeAnswers says how the answer to one request differs, where its runs agree about that.
func (u *use) judgeAnswers(l line, q request, i int, runs map[Side][]served, evidence []string) {
	name := q.text() + " to " + l.text
	base, head := answersTo(i, runs[Base]), answersTo(i, runs[Head])
	if slices.ContainsFunc(base, func(a answer) bool { return a.status() == 0 || a.late || a.gone }) {
		if q.path != "" {
			u.leave(unanswered, name)
		}
		return
	}
	if !slices.ContainsFunc(runs[Head], func(s served) bool { return i < len(s.answers) }) {
		return // it had ended, or hung, at one before
	}
	first := runs[Head][0]
	elsewhere := first.ports > 1 && first.port != runs[Base][0].port // no one knows which of them
	if !agree(base) || !agree(head) || elsewhere {
		u.leave(varying, name)
		return
	}
	d := LineDifference{
		Line: name, Request: true, Evidence: evidence, Was: "answers " + strconv.Itoa(base[0].status()),
		Command: first.start + " & sleep 3; " + q.Curl(runs[Base][0].port),
	}
	switch b, h := base[0], head[0]; {
	case h.gone:
		d.Is, d.Breaks = "ends the program: "+shown(results.FailureLine(first.errors)), true
	case h.late:
		d.Is = "does not end"
		d.Breaks = answersAny(runs[Head]) && !slices.ContainsFunc(base, func(a answer) bool { return hangTimes*a.took > callLimit })
	case h.status() == 0:
		d.Is, d.Breaks = "is not answered", answersAny(runs[Head])
	case h.status() != b.status():
		d.Is = "answers " + strconv.Itoa(h.status())
	default:
		was, ok1 := cmdline.Read(texts(base)...)
		is, ok2 := cmdline.Read(texts(head)...)
		if !ok1 || !ok2 {
			u.leave(varying, name)
			return
		}
		from, to, other := was.Differs(is)
		if !other {
			u.asked++
			return
		}
		d.Was, d.Is = says("answers %s", from), says("answers %s", to)
	}
	stands, touched := u.stands(line{path: q.path, at: q.At}, &d)
	d.Expected, d.Breaks = touched, d.Breaks && base[0].status() < 400 && stands && !touched
	u.asked++
	u.otherwise++
	u.out.Differences = append(u.out.Differences, d)
}

// answersTo are the answers to one request, one for each run; a server that had ended
// before is gone.
func answersTo(i int, runs []served) []answer {
	var out []answer
	for _, s := range runs {
		a := answer{gone: true}
		if i < len(s.answers) {
			a = s.answers[i]
		}
		out = append(out, a)
	}
	return out
}

// agree says whether answers differ in what they say alone.
func agree(list []answer) bool {
	return !slices.ContainsFunc(list, func(a answer) bool {
		return a.status() != list[0].status() || a.late != list[0].late || a.gone != list[0].gone
	})
}

// answersAny says whether a server answers at least one request in each run. One that
// answers none has another protocol, which is not a fault of a request.
func answersAny(runs []served) bool {
	return !slices.ContainsFunc(runs, func(s served) bool {
		return !slices.ContainsFunc(s.answers, func(a answer) bool { return a.status() != 0 })
	})
}

func texts(list []answer) []string {
	var out []string
	for _, a := range list {
		out = append(out, a.text)
	}
	return out
}
