package ecosystem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// nodeReporter is a reporter of "node --test" that reports the file of each test,
// which its own ones do not: a line of JSON for each test that ended.
const nodeReporter = `import{inspect}from"node:util";` +
	`export default async function*(events){const said={};for await(const{type,data:d}of events){` +
	`if(type==="test:stderr"||type==="test:stdout"){said[d.file]=((said[d.file]||"")+d.message).slice(-8000)}` +
	`if(type==="test:pass"||type==="test:fail"){const e=d.details&&d.details.error;const c=e&&(e.cause||e);` +
	`yield JSON.stringify({ok:type==="test:pass",name:d.name,nesting:d.nesting,file:d.file,suite:d.details&&d.details.type==="suite",` +
	`skip:d.skip!==undefined,todo:d.todo!==undefined,ms:d.details&&d.details.duration_ms,kind:e&&e.failureType,` +
	`error:c?(typeof c==="string"?c:inspect(c)):"",said:type==="test:fail"?said[d.file]:""})+"\n"}}yield"{\"end\":true}\n"}`

// errEnded is a runner that ended before its results did.
var errEnded = errors.New("the runner ended before its results did")

// escapeReporter makes it a module of its own, as a URL.
func escapeReporter(src string) string {
	return "data:text/javascript," + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", "\n", "%0A", `"`, "%22", " ", "%20", `\`, "%5C").Replace(src)
}

// ParseJest reads the JSON of jest, which vitest writes as well.
func ParseJest(data []byte) ([]outcome, error) {
	var doc struct {
		NumFailedTests int
		TestResults    []struct {
			Name, Status, Message string
			AssertionResults      []struct {
				AncestorTitles  []string
				Title, Status   string
				Duration        float64
				FailureMessages []string
				Invocations     int
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of jest: %w", err)
	}
	var out []outcome
	failed := 0
	for _, f := range doc.TestResults {
		if len(f.AssertionResults) == 0 && f.Status == "failed" {
			out = append(out, outcome{pkg: f.Name, status: Failed, output: Short(plainText(f.Message))})
		}
		before := failed
		for _, a := range f.AssertionResults {
			o := outcome{pkg: f.Name, name: strings.Join(append(a.AncestorTitles, a.Title), NameSep), elapsed: millis(a.Duration), retried: a.Invocations > 1}
			// vitest leaves the failures of the runs before with a test that passed in the end.
			o.retried = o.retried || a.Status == "passed" && len(a.FailureMessages) > 0
			switch a.Status {
			case "passed":
				o.status = Passed
			case "failed":
				o.status, o.output = Failed, Short(plainText(strings.Join(a.FailureMessages, "\n")))
				failed++
			default:
				o.status = Skipped
			}
			out = append(out, o)
		}
		if f.Status == "failed" && failed == before && len(f.AssertionResults) > 0 { // what runs after its tests
			out = append(out, outcome{pkg: f.Name, status: Failed, output: Short(plainText(f.Message))})
		}
	}
	return out, disagree(doc.NumFailedTests, failed)
}

// disagree is an error where a runner counts more failures than it reports.
func disagree(counted, reported int) error {
	if counted > reported {
		return fmt.Errorf("they count %d failures and report %d", counted, reported)
	}
	return nil
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// mochaReporter writes what mocha's own JSON reporter does into a file, which that one can
// since mocha 9.2 only. The events and what they have are those of mocha 3 and newer
// (https://mochajs.org/api/runner). It is written between single quotes of a shell.
const mochaReporter = `const fs=require("fs");` +
	`module.exports=function(runner,options){const to=options.reporterOptions||options.reporterOption;` +
	`const doc={stats:{failures:0},tests:[],pending:[],failures:[]};` +
	`const of=(t,e)=>{let file=t.file;for(let s=t.parent;!file&&s;s=s.parent)file=s.file;` +
	`return{title:t.title,fullTitle:t.fullTitle(),file,duration:t.duration,state:t.state||(t.pending?"pending":""),currentRetry:t.currentRetry?t.currentRetry():0,` +
	`err:e?{message:String(e.message||e),stack:e.stack?String(e.stack):""}:{}}};` +
	`runner.on("test end",t=>doc.tests.push(of(t)));runner.on("pending",t=>doc.pending.push(of(t)));` +
	`runner.on("fail",(t,e)=>{doc.stats.failures++;doc.failures.push(of(t,e))});` +
	`runner.on("end",()=>fs.writeFileSync(to.output,JSON.stringify(doc)))};`

// parseMocha reads the JSON of mocha.
func parseMocha(data []byte) ([]outcome, error) {
	type test struct {
		Title, FullTitle, File string
		State                  string // "passed", "failed" or "pending"; of mocha's own reporter none
		Duration               float64
		CurrentRetry           int
		Err                    struct{ Message, Stack string }
	}
	var doc struct {
		Stats                    struct{ Failures int }
		Tests, Pending, Failures []test
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of mocha: %w", err)
	}
	id := func(t test) string { return t.File + "\x00" + t.FullTitle }
	pending, failures := map[string]bool{}, map[string][]outcome{}
	for _, t := range doc.Pending {
		pending[id(t)] = true
	}
	for _, t := range doc.Failures {
		failures[id(t)] = append(failures[id(t)], outcome{pkg: t.File, name: t.FullTitle, status: Failed, output: Short(JoinOutput(t.Err.Message, t.Err.Stack)), elapsed: millis(t.Duration)})
	}
	var out []outcome
	taken := map[string]int{}
	for _, t := range doc.Tests {
		o := outcome{pkg: t.File, name: t.FullTitle, status: Passed, elapsed: millis(t.Duration), retried: t.CurrentRetry > 0}
		switch known := failures[id(t)]; {
		case t.State == "failed" || t.State == "" && len(known) > 0:
			if taken[id(t)] == len(known) {
				continue // it is there already
			}
			o = known[taken[id(t)]]
			taken[id(t)]++
		case t.State == "pending" || t.State == "" && pending[id(t)]:
			o.status = Skipped
		}
		out = append(out, o)
	}
	for _, t := range doc.Failures { // hooks that failed are there alone
		if n := taken[id(t)]; n < len(failures[id(t)]) {
			out = append(out, failures[id(t)][n])
			taken[id(t)]++
		}
	}
	return out, disagree(doc.Stats.Failures, len(doc.Failures))
}

// parseNodeTest reads the lines of nodeReporter. Groups come after what is in them.
func parseNodeTest(data []byte) ([]outcome, error) {
	type event struct {
		OK                      bool
		Name, File, Kind, Error string
		Said                    string
		Nesting                 int
		Suite, Skip, Todo, End  bool
		MS                      float64
	}
	var out []outcome
	open := map[string][]int{} // by file: those of out that groups may still come around, by depth
	levels := map[int]int{}    // of those
	failing := map[string]bool{}
	ended := false
	for line := range bytes.Lines(data) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return out, fmt.Errorf("events of node --test: %w", err)
		}
		if ended = e.End; ended {
			continue
		}
		if e.Name == e.File && e.Nesting == 0 { // the file itself
			if !e.OK && !failing[e.File] {
				out = append(out, outcome{pkg: e.File, status: Failed, output: Short(JoinOutput(e.Said, e.Error))})
				failing[e.File] = true
			}
			continue
		}
		if e.Nesting > maxDepth {
			return out, fmt.Errorf("events of node --test: %w", errDeep)
		}
		group, inside := false, open[e.File]
		for i := len(inside) - 1; i >= 0 && levels[inside[i]] > e.Nesting; i-- {
			at := inside[i]
			out[at].name, levels[at], group = e.Name+NameSep+out[at].name, e.Nesting, true
		}
		if group && (e.OK || e.Kind == "subtestsFailed") || e.Suite && e.OK {
			continue
		}
		o := outcome{pkg: e.File, name: e.Name, status: Passed, elapsed: millis(e.MS)}
		switch {
		case e.Skip || e.Todo:
			o.status = Skipped
		case !e.OK:
			o.status, o.output = Failed, Short(e.Error)
		}
		failing[e.File] = failing[e.File] || o.status == Failed
		open[e.File], levels[len(out)] = append(open[e.File], len(out)), e.Nesting
		out = append(out, o)
	}
	if !ended {
		return out, errEnded
	}
	return out, nil
}
