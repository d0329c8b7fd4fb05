package web

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// A search is what someone looks for, as it is read. All of its terms must match.
type search struct {
	Text  string // as it was written
	terms []term
	Other []reading // how words could be read otherwise
}

// A term is one of a search.
type term struct {
	kind  kind
	value string
}

// A kind is what a term is about.
type kind string

const (
	ofRepo    kind = "repo"    // a part of its name
	ofPull    kind = "pr"      // number of the pull request
	ofPerson  kind = "by"      // login
	ofCommit  kind = "commit"  // its beginning
	ofVerdict kind = "verdict" // as in reports, in any case
	ofState   kind = "state"   // of the run
	ofTest    kind = "test"    // part of the name of one that failed
	ofWord    kind = ""        // what of these is found out
)

// A reading is another search.
type reading struct{ Text, Words string }

const (
	maxSearch = 300 // characters
	maxTerms  = 8
)

var (
	pullNumber = pattern.New(`^#?([1-9][0-9]{0,5})$`)
	ofThePull  = pattern.New(`^([^#\s]+/[^#\s]+)#([1-9][0-9]{0,8})$`)
	someCommit = pattern.New(`^[0-9a-f]*[0-9][0-9a-f]*$`)
	wordOf     = pattern.New(`(?:[a-z]+:)?"[^"]*"|\S+`)
)

func verdicts() []report.Verdict {
	return []report.Verdict{report.Pass, report.Fail, report.Partial, report.Error}
}

func states() []store.RunState {
	return []store.RunState{store.Running, store.Finished, store.Failed, store.Superseded, store.Stopped, store.Skipped}
}

// parseSearch reads what was written. It knows nothing of what there is.
func parseSearch(text string) search {
	s := search{Text: report.Line(strings.TrimSpace(text), maxSearch)}
	for _, word := range wordOf.FindAllString(s.Text, maxTerms) {
		s.terms = append(s.terms, parseTerm(word)...)
	}
	return s
}

func parseTerm(word string) []term {
	name, value, ok := strings.Cut(word, ":")
	value = strings.Trim(value, `"`)
	if k := kind(name); ok && value != "" && slices.Contains([]kind{ofRepo, ofPull, ofPerson, ofCommit, ofVerdict, ofState, ofTest}, k) {
		return []term{{k, normal(k, value)}}
	}
	word = strings.Trim(word, `"`)
	if m := ofThePull.FindStringSubmatch(word); m != nil {
		return []term{{ofRepo, m[1]}, {ofPull, m[2]}}
	}
	lower, upper := strings.ToLower(word), strings.ToUpper(word)
	switch {
	case word == "":
		return nil
	case pullNumber.MatchString(word):
		return []term{{ofPull, normal(ofPull, word)}}
	case strings.HasPrefix(word, "@") && len(word) > 1:
		return []term{{ofPerson, word[1:]}}
	case slices.Contains(verdicts(), report.Verdict(upper)):
		return []term{{ofVerdict, upper}}
	case slices.Contains(states(), store.RunState(lower)):
		return []term{{ofState, lower}}
	case len(word) >= 7 && len(word) <= 40 && someCommit.MatchString(lower):
		return []term{{ofCommit, lower}}
	}
	return []term{{ofWord, word}}
}

// normal is a value as it is stored.
func normal(k kind, value string) string {
	switch k {
	case ofPull:
		return strings.TrimPrefix(value, "#")
	case ofPerson:
		return strings.TrimPrefix(value, "@")
	case ofCommit, ofState:
		return strings.ToLower(value)
	case ofVerdict:
		return strings.ToUpper(value)
	}
	return value
}

// Word writes a term so that it is read again as what it is.
func (t term) Word() string {
	value := t.value
	if strings.ContainsAny(value, " \t") {
		value = `"` + value + `"`
	}
	if t.kind == ofWord {
		return value
	}
	return string(t.kind) + ":" + value
}

// Words says what a term looks for.
func (t term) Words() string {
	switch t.kind {
	case ofRepo:
		return "in repositories with “" + t.value + "” in the name"
	case ofPull:
		return "of pull request #" + t.value
	case ofPerson:
		return "asked for by " + t.value
	case ofCommit:
		return "of commit " + t.value
	case ofVerdict:
		return "with verdict " + t.value
	case ofState:
		return "that are " + t.value
	}
	return "in which a test with “" + t.value + "” in its name failed"
}

// Words says what is looked for.
func (s search) Words() string {
	var words []string
	for _, t := range s.terms {
		words = append(words, t.Words())
	}
	return "Runs " + strings.Join(words, ", ")
}

// mistake says which value of a search there cannot be, and which there are; empty: all can be.
func (s search) mistake() string {
	for _, t := range s.terms {
		switch {
		case t.kind == ofState && !slices.Contains(states(), store.RunState(t.value)):
			return "There is no state “" + t.value + "”: there are " + listOf(states()) + "."
		case t.kind == ofVerdict && !slices.Contains(verdicts(), report.Verdict(t.value)):
			return "There is no verdict “" + t.value + "”: there are " + listOf(verdicts()) + "."
		case t.kind == ofPull:
			if n, err := strconv.Atoi(t.value); err != nil || n <= 0 {
				return "“" + t.value + "” is not a pull request number: write pr:12 or #12."
			}
		}
	}
	return ""
}

func listOf[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

// Asked reports whether anything is looked for.
func (s search) Asked() bool { return len(s.terms) > 0 }

// resolve finds out what plain words mean: a repository that v may see, else a person who
// asked for one of its runs, else a test. All else that is there plays no part in it.
func (s *Site) resolve(ctx context.Context, v *viewer, q *search) (store.RunFilter, error) {
	visible := slices.Sorted(maps.Keys(v.repos))
	names := map[int64]string{}
	if slices.ContainsFunc(q.terms, func(t term) bool { return t.kind == ofWord || t.kind == ofRepo }) {
		var err error
		if names, err = s.DB.RepoNames(ctx, visible); err != nil {
			return store.RunFilter{}, err
		}
	}
	for i, t := range q.terms {
		if t.kind != ofWord {
			continue
		}
		k := ofTest
		if len(named(names, visible, t.value)) > 0 {
			k = ofRepo
		} else if runs, err := s.DB.Runs(ctx, store.RunFilter{RepoIDs: visible, Actor: t.value, Limit: 1}); err != nil {
			return store.RunFilter{}, err
		} else if len(runs) > 0 {
			k = ofPerson
		}
		q.terms[i].kind = k
		for _, other := range []kind{ofRepo, ofPerson, ofTest} {
			if other != k {
				q.Other = append(q.Other, q.reading(i, other))
			}
		}
	}
	return filter(q.terms, names, visible), nil
}

// reading is s with its term i read as another kind.
func (s search) reading(i int, as kind) reading {
	terms := slices.Clone(s.terms)
	terms[i].kind = as
	var words []string
	for _, t := range terms {
		words = append(words, t.Word())
	}
	return reading{strings.Join(words, " "), terms[i].Words()}
}

// named are the repositories among these whose name has a part.
func named(names map[int64]string, among []int64, part string) []int64 {
	out := []int64{}
	for _, id := range among {
		if names[id] != "" && strings.Contains(strings.ToLower(names[id]), strings.ToLower(part)) {
			out = append(out, id)
		}
	}
	return out
}

// filter is what the store is asked for. Terms of one kind that differ match nothing.
func filter(terms []term, names map[int64]string, visible []int64) store.RunFilter {
	f := store.RunFilter{RepoIDs: append([]int64{}, visible...)}
	seen := map[kind]string{}
	for _, t := range terms {
		if had, ok := seen[t.kind]; ok && had != t.value && t.kind != ofRepo && t.kind != ofTest {
			return store.RunFilter{RepoIDs: []int64{}}
		}
		seen[t.kind] = t.value
		switch t.kind {
		case ofRepo:
			f.RepoIDs = named(names, f.RepoIDs, t.value)
		case ofPull:
			n, err := strconv.Atoi(t.value)
			if err != nil || n <= 0 {
				return store.RunFilter{RepoIDs: []int64{}}
			}
			f.Number = n
		case ofPerson:
			f.Actor = t.value
		case ofCommit:
			f.Commit = t.value
		case ofVerdict:
			f.Verdict = t.value
		case ofState:
			f.State = store.RunState(t.value)
		default:
			f.Failing = append(f.Failing, t.value)
		}
	}
	return f
}

// written is what is looked for by the query of an address. That of earlier versions had a
// key for each kind.
func written(q url.Values) string {
	words := []string{q.Get("q")}
	for _, old := range []struct {
		key string
		as  kind
	}{{"repo", ofRepo}, {"number", ofPull}, {"verdict", ofVerdict}, {"state", ofState}} {
		if value := strings.TrimSpace(q.Get(old.key)); value != "" {
			words = append(words, term{old.as, value}.Word())
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
