package ecosystem

import (
	"cmp"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// JudgingPackage is what packages are called by which tests compare, beside [TestPackage]: libraries
// for tests in languages that have other words for them, and what these compare and show values by.
var JudgingPackage = pattern.New(`(?i)(^|[/_.-])(deep-?eql?|\w*equals?|\w*diff\w*|compar\w*|type-detect|check-error|pretty-format|loupe|rspec|minitest|shoulda|webmock|vcr|capybara|cucumber|phpunit|pest|mockery|prophecy|comparator|` +
	`approx|pretty|insta|similar|proptest|quickcheck|rstest|criterion|wiremock|responses|freezegun|behave|ward|syrupy)($|[/_.-])`)

// Judges says whether a package is one that tests compare with or run by.
func Judges(pkg string) bool { return TestPackage.MatchString(pkg) || JudgingPackage.MatchString(pkg) }

// IsOlder says whether a version comes before another one: by its numbers, and one before a release
// before that.
func IsOlder(is, than string) bool {
	parts := func(v string) (numbers []string, before bool) {
		v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
		number, rest, _ := strings.Cut(v, "-")
		return strings.Split(number, "."), rest != ""
	}
	a, aBefore := parts(is)
	b, bBefore := parts(than)
	for i := range max(len(a), len(b)) {
		if c := cmp.Compare(numberAt(a, i), numberAt(b, i)); c != 0 {
			return c < 0
		}
	}
	return aBefore && !bBefore
}

// numberAt is a number of a version, 0 where it has none.
func numberAt(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	digits := parts[i]
	for at, c := range digits {
		if c < '0' || c > '9' {
			digits = digits[:at]
			break
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// OlderIn makes the field Older of an ecosystem from what a lockfile in the folder of a project has:
// read returns the versions of packages by their names.
func OlderIn(file string, read func(src []byte) map[string][]string) func(base, head fs.FS, dir string) []string {
	return func(base, head fs.FS, dir string) []string {
		was, err := fs.ReadFile(base, path.Join(dir, file))
		is, errHead := fs.ReadFile(head, path.Join(dir, file))
		if err != nil || errHead != nil {
			return nil
		}
		return OlderOf(read(was), read(is))
	}
}

// OlderOf are packages that tests compare with and of which one side has one version, and the other
// an older one.
func OlderOf(was, is map[string][]string) []string {
	var out []string
	for _, pkg := range sorted.Keys(was, strings.Compare) {
		if a, b := was[pkg], is[pkg]; Judges(pkg) && len(a) == 1 && len(b) == 1 && IsOlder(b[0], a[0]) {
			out = append(out, OlderVersion(pkg, a[0], b[0]))
		}
	}
	return out
}

// OlderVersion is a package with its version on the base and on the head, for people.
func OlderVersion(pkg, was, is string) string { return pkg + " " + is + " in place of " + was }
