package tool

import (
	"encoding/json"
	"path"
)

// A Target is one thing that a call is about, in the words of one kind of permission rule.
type Target struct {
	Rule string // such as Read
	Text string
	// Aside marks what a tool touches besides: such a target can only forbid.
	Aside bool
}

// subject is implemented by the arguments of tools that say what a call is about. A tool
// whose arguments do not is subject to all rules that its class can be about.
type subject interface {
	about(tool string, rel func(string) string) []Target
}

// aboutOf is what the arguments T declare; nil where they declare nothing.
func aboutOf[T any](tool string) func(json.RawMessage, func(string) string) []Target {
	var zero T
	if _, ok := any(zero).(subject); !ok {
		return nil
	}
	return func(args json.RawMessage, rel func(string) string) []Target {
		var in T
		_ = json.Unmarshal(args, &in) // what does not fit is the tool's to say
		return any(in).(subject).about(tool, rel)
	}
}

// reads are targets of paths that a call reads besides what it is about.
func reads(rel func(string) string, paths ...string) []Target {
	var out []Target
	for _, p := range paths {
		out = append(out, Target{Rule: "Read", Text: rel(p), Aside: true})
	}
	return out
}

// ofGit is what a call asks of git, in git's words.
func ofGit(verb string, words ...string) Target {
	for _, w := range words {
		if w != "" {
			verb += " " + w
		}
	}
	return Target{Rule: "Git", Text: verb}
}

func (in readFileArgs) about(_ string, rel func(string) string) []Target {
	return []Target{{Rule: "Read", Text: rel(in.Path)}}
}

func (in readManyArgs) about(_ string, rel func(string) string) []Target {
	out := make([]Target, len(in.Paths))
	for i, p := range in.Paths {
		out[i] = Target{Rule: "Read", Text: rel(p)}
	}
	return out
}

func (in listDirArgs) about(_ string, rel func(string) string) []Target {
	return []Target{{Rule: "List", Text: rel(in.Path)}}
}

func (in structureArgs) about(_ string, rel func(string) string) []Target {
	return []Target{{Rule: "List", Text: rel(in.Path)}}
}

func (in globArgs) about(_ string, rel func(string) string) []Target {
	return []Target{{Rule: "Glob", Text: path.Join(rel(in.Path), in.Pattern)}}
}

func (in grepArgs) about(_ string, rel func(string) string) []Target {
	return append([]Target{{Rule: "Grep", Text: rel(in.Path)}}, reads(rel, in.Path)...)
}

func (in changedArgs) about(string, func(string) string) []Target {
	return []Target{ofGit("diff-tree", in.From, in.To)}
}

func (statusArgs) about(string, func(string) string) []Target { return []Target{ofGit("status")} }

func (in showArgs) about(_ string, rel func(string) string) []Target {
	return append([]Target{ofGit("show", in.Rev+":"+rel(in.Path))}, reads(rel, in.Path)...)
}

func (in diffArgs) about(_ string, rel func(string) string) []Target {
	return append([]Target{ofGit("diff", append([]string{in.From, in.To}, in.Paths...)...)}, reads(rel, in.Paths...)...)
}

func (in logArgs) about(_ string, rel func(string) string) []Target {
	return append([]Target{ofGit("log", in.Rev, rel(in.Path))}, reads(rel, in.Path)...)
}

func (in blameArgs) about(_ string, rel func(string) string) []Target {
	return append([]Target{ofGit("blame", in.Rev, rel(in.Path))}, reads(rel, in.Path)...)
}

func (in mergeBaseArgs) about(string, func(string) string) []Target {
	return []Target{ofGit("merge-base", in.A, in.B)}
}

func (in fetchArgs) about(string, func(string) string) []Target {
	return []Target{{Rule: "Fetch", Text: in.URL}}
}

func (noArgs) about(tool string, _ func(string) string) []Target {
	return []Target{{Rule: "Github", Text: tool}}
}

func (in bashArgs) about(string, func(string) string) []Target {
	return []Target{{Rule: "Bash", Text: in.Command}}
}

func (in startArgs) about(string, func(string) string) []Target {
	return []Target{{Rule: "Bash", Text: in.Command}}
}

// What process_output and stop_process are about was decided when the process was started.
func (outputArgs) about(string, func(string) string) []Target { return nil }
func (stopArgs) about(string, func(string) string) []Target   { return nil }

func (in testArgs) about(string, func(string) string) []Target {
	return []Target{{Rule: "Tests", Text: in.Suite}}
}

func (in shotArgs) about(string, func(string) string) []Target {
	return []Target{{Rule: "Bash", Text: "chromium --headless --screenshot " + quoteWord(in.URL)}}
}
