package web

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// functions are what templates call.
func (s *Site) functions() template.FuncMap {
	return template.FuncMap{
		"line":    func(n int, v any) string { return report.Line(fmt.Sprint(v), n) },
		"ending":  ending,
		"command": beginning,
		"dict":    dict,
		"join":    strings.Join,
		"lines":   func(ls []string) string { return strings.Join(ls, "\n") },
		"took":    took,
		"ms":      func(n int64) string { return took(time.Duration(n) * time.Millisecond) },
		"since":   func(now, t time.Time) string { return since(now.Sub(t)) },
		"until":   func(from, to time.Time) string { return took(to.Sub(from)) },
		"at":      func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") },
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"money":   money,
		"count":   count,
		"many":    many,
		"bytes":   size,
		"sha":     func(s string) string { return s[:min(7, len(s))] },
		"word":    word,
		"class":   class,
		"asset":   func(name string) string { return s.base + "/assets/" + name + "?v=" + s.assets[name].version },
		"path":    func(p string) string { return (&url.URL{Path: p}).EscapedPath() },
		"base":    base,
		"nested":  func(name string) bool { return strings.Contains(name, "/") },
		"words":   func(v any) string { return strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(v), "_", " "), "-", " ") },
	}
}

// dict gives a template several values, by their names.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

// word is the verdict of a run, or what there is in its place.
func word(of any) string {
	r, ok := of.(store.Run)
	if p, pointer := of.(*store.Run); pointer && p != nil {
		r, ok = *p, true
	}
	switch {
	case !ok:
		return ""
	case r.State == store.Running:
		return "RUNNING"
	case r.State == store.Superseded, r.State == store.Stopped, r.State == store.Skipped:
		return strings.ToUpper(string(r.State))
	case r.Verdict != "":
		return r.Verdict
	}
	return string(report.Error)
}

// class is how a word looks. Words are ours, but they come from the store.
func class(v any) string {
	switch word := strings.ToLower(fmt.Sprint(v)); word {
	case "pass", "fail", "partial", "error", "running", "warning":
		return word
	}
	return "none"
}

func took(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

func since(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// money is an amount in US dollars; a nil one is not known.
func money(v any) string {
	amount, ok := v.(float64)
	if p, pointer := v.(*float64); pointer {
		if p == nil {
			return "cost unknown"
		}
		amount, ok = *p, true
	}
	switch {
	case !ok:
		return ""
	case amount > 0 && amount < 0.01:
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", amount)
}

// many is a number of things.
func many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func count(n any) string {
	var v int64
	switch n := n.(type) {
	case int:
		v = int64(n)
	case int64:
		v = n
	}
	switch {
	case v < 10_000:
		return fmt.Sprint(v)
	case v < 1_000_000:
		return fmt.Sprintf("%.0fk", float64(v)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(v)/1e6)
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f kB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
