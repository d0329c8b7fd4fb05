package classes

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
)

var word = pattern.New(`[\pL_$][\pL\pN_$]*`)

// Words are the names in a source.
func Words(src []byte) map[string]bool {
	out := map[string]bool{}
	for _, w := range word.FindAll(src, -1) {
		out[string(w)] = true
	}
	return out
}

// InMixed says whether a file of several uses is one of an ecosystem's.
func InMixed(name, eco string) bool {
	return languages.Any(func(e *ecosystem.Ecosystem) bool {
		return e.Name == eco && e.Classes.Mixed != nil && e.Classes.Mixed(name) != nil
	})
}

// RunnerSettings are the texts in which runners are given files of their own.
func RunnerSettings(root, dir string) []string {
	var out []string
	for _, name := range ecosystem.RunnerSettings {
		src, err := ecosystem.ReadInTree(root, path.Join(dir, name))
		if err == nil && (!strings.HasPrefix(name, "vite.config.") || languages.Any(func(e *ecosystem.Ecosystem) bool { // else it is of the build alone
			return e.Classes.Steering != nil && e.Classes.Steering(name, src)
		})) {
			out = append(out, string(src))
		}
	}
	return out
}

// looksLikeSetup is a name or a folder of what belongs to tests.
var looksLikeSetup = pattern.New(`(?i)(?:^|[/._-])(?:tests?|specs?|__tests__|bootstrap|set-?up|support|helpers?|hooks?|env(?:ironment)?|polyfills?|register|fixtures?|transform(?:er)?|resolver|reporter|loader|runner|serializer)`)

// commonStems are names of files that are words of commands and settings, too.
var commonStems = strings.Fields("test tests spec specs index main")

// NamesSetup says whether settings name a file as one that is loaded before tests.
// One that lies among the sources and is not called a setup file is a source that is
// loaded first, as where PHPUnit's bootstrap is the library itself.
func NamesSetup(settings, name string) bool {
	if ecosystem.InFolder(name, "src", "lib", "app") && !looksLikeSetup.MatchString(name) {
		return false
	}
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if !strings.Contains(settings, stem) {
		return false
	}
	at := regexp.QuoteMeta(stem)
	if dir := path.Dir(name); slices.Contains(commonStems, stem) && dir != "." { // else a word is taken for it, such as a folder of tests
		at = regexp.QuoteMeta(path.Base(dir)) + "/" + at
	}
	key := `(?s)(?:setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|testEnvironment|testRunner|reporters?|transform|resolver|snapshotSerializers|--require|--import|--loader|--setup|pytest_plugins|\s-p|plugins|presets|\brequire|\bbootstrap|\s-r)["']?[\s:=\[]*[^\]}]{0,200}?[/"'\s.]`
	return regexp.MustCompile(key + at + `(?:\.\w+)?["'\s,\]]`).MatchString(settings)
}

// Names says whether a source in dir has the path of a file, or of a folder that it
// is in, in a string, or a pattern that a file of data fits.
func Names(src, dir, file string) bool {
	if namesByPattern(src, dir, file) {
		return true
	}
	for at := file; at != "." && at != "/" && at != dir; at = path.Dir(at) {
		if !strings.Contains(src, path.Base(at)) { // all ways to name it end in that
			continue
		}
		for _, way := range []string{path.Base(at), strings.TrimPrefix(at, dir+"/"), at} {
			for _, q := range []string{`"`, "'", "`", "/"} {
				if i := strings.Index(src, q+way); i >= 0 && i+len(q+way) < len(src) && strings.ContainsRune("\"'`/", rune(src[i+len(q+way)])) {
					return true
				}
			}
		}
	}
	return false
}

var (
	plainExt     = pattern.New(`^\.\w+$`)
	filesOfAnExt = pattern.New(`^[*/]*\.\w+$`)
)

// usualData are the extensions of files that a tree has for many purposes.
var usualData = []string{".cfg", ".css", ".csv", ".gif", ".html", ".ini", ".jpg", ".json", ".lock", ".md", ".png", ".rst", ".svg", ".toml", ".txt", ".xml", ".yaml", ".yml"}

// namesByPattern says whether a source in dir has a pattern with stars, in a string, that a
// file fits, from the root of the tree on, from the folder of the source, or from
// one that is found as the program runs. One that names nothing but a usual extension counts
// for files in dir alone.
func namesByPattern(src, dir, file string) bool {
	ext := path.Ext(file)
	if !plainExt.MatchString(ext) || !strings.Contains(src, "*") || languages.IsSource(file) {
		return false
	}
	for end := 0; ; {
		i := strings.Index(src[end:], ext) // a whole source is not searched by a regular expression for each file of a change
		if i < 0 {
			return false
		}
		from := end
		end += i + len(ext)
		if end == len(src) || !isQuote(src[end]) {
			continue
		}
		start := end - len(ext)
		for start > from && (isWord(src[start-1]) && src[start-1] < 0x80 || strings.IndexByte(".@/*-", src[start-1]) >= 0) {
			start--
		}
		way := src[start:end]
		if start == 0 || !isQuote(src[start-1]) || !strings.Contains(way, "*") ||
			filesOfAnExt.MatchString(way) && slices.Contains(usualData, ext) && path.Dir(file) != dir {
			continue
		}
		at := strings.ReplaceAll(strings.TrimLeft(way, "./"), "**/", "*")
		if pattern.Glob(at, file) || pattern.Glob("*/"+at, file) {
			return true
		}
	}
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
