package languages

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestOtherwise holds what a target for tests does in another way than ycbot calls the runner.
func TestOtherwise(t *testing.T) {
	t.Parallel()
	for makefile, want := range map[string]string{
		"test:\n\tgo test ./...": "",
		"test: lint\n\t@go test -v -race -count=1 -coverprofile=c.out ./... | tee out.txt\nlint:\n\tgolangci-lint run\n\tgo vet ./...": "",
		"GO ?= go\ntest: build\n\tCI=1 $(GO) test -timeout 30s ./...\nbuild:\n\t$(GO) build ./...":                                     "",
		"test:\n\tgo test -cpu=1,4 ./...":                                                         "go test -cpu=1,4 ./...",
		"test:\n\tgo test ./...\n\tGOARCH=386 go test ./...":                                      "GOARCH=386 go test ./...",
		"export SHOP=1\ntest:\n\tgo test ./...":                                                   "export SHOP=1",
		"test:\n\tfor tz in UTC Asia/Tokyo; do TZ=$$tz go test ./...; done":                       "for tz in UTC Asia/Tokyo; do TZ=$tz go test ./...; done",
		"test:\n\tgo test ./...\n\tgo run ./cmd/shop | diff - docs/sample.txt":                    "go run ./cmd/shop | diff - docs/sample.txt",
		"test:\n\tfor m in fast slow; do pytest -m $$m || exit 1; done":                           "for m in fast slow; do pytest -m $m || exit 1; done",
		"test:\n\tgo test ./... -args -update":                                                    "go test ./... -args -update",
		"test:\n\tgotestsum -- ./...":                                                             "",
		"test:\n\tpython3 -m pytest -q -n4 --cov=shop --cov-report=xml -p no:cacheprovider tests": "",
		"test:\n\tpython3 -W error -m pytest":                                                     "python3 -W error -m pytest",
		"test:\n\tpytest --doctest-modules src":                                                   "pytest --doctest-modules src",
		"test:\n\tpytest\n\tpython -m doctest shop.py":                                            "python -m doctest shop.py",
		"test:\n\tpip install -e .\n\tuv run pytest -x":                                           "",
		"test:\n\tcd plugins/fr && pytest .":                                                      "cd plugins/fr && pytest .",
		"test:\n\tcd web && npm test":                                                             "",
		"test:\n\tnpm test":                                                                       "",
		"test:\n\tTZ=UTC npm test":                                                                "TZ=UTC npm test",
		"test:\n\tcargo test --workspace --locked -- --nocapture --test-threads=1":                "",
		"test:\n\tcargo test --release":                                                           "cargo test --release",
		"test:\n\tcmake -S . -B build -DCMAKE_BUILD_TYPE=Debug\n\tcmake --build build\n\tctest --test-dir build --output-on-failure": "",
		"test:\n\tcmake -S . -B build -DSHOP_TRACE=ON\n\tctest --test-dir build":                                                     "cmake -S . -B build -DSHOP_TRACE=ON",
		"test:\n\tmeson setup -Dtrace=true build\n\tmeson test -C build":                                                             "meson setup -Dtrace=true build",
		"test:\n\t./run.sh": "", // which is no call of a runner: scripts are looked at by themselves
		"test:\n\tgo test ./...\n\tgo test -run=XXX -bench=. -benchtime=1x ./...":  "go test -run=XXX -bench=. -benchtime=1x ./...",
		"test:\n\tpytest\n\tpytest checks/*.py":                                    "pytest checks/*.py",
		"test:\n\tpytest\n\tpython3 -m unittest checks.at":                         "python3 -m unittest checks.at",
		"test:\n\tpytest\n\tfind checks -name '*.py' | xargs python3 -m pytest -q": "find checks -name '*.py' | xargs python3 -m pytest -q",
		"test:\n\tpytest\n\t$(MAKE) -C e2e":                                        "$(MAKE) -C e2e",
		"test:\n\tnpm test\n\tnpm run check":                                       "npm run check",
		"test:\n\tnpm run build && npm run test:unit":                              "",
		"build:\n\tgo build":                                                       "",
	} {
		t.Run(makefile, func(t *testing.T) {
			t.Parallel()
			var notes strings.Builder
			s := trees.Survey(t, map[string]string{"Makefile": makefile + "\n", "run.sh": ""}, &notes)
			if got := otherwise(s, ".", func(dir string) bool { return dir == "web" }); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// TestTargets holds which targets of a folder's Makefile are commands of a project for its tests.
func TestTargets(t *testing.T) {
	t.Parallel()
	for makefile, want := range map[string]string{
		"test:\n\tpytest\n":                             "make test",
		"test:\n\tpytest\ncheck: test\n\t./golden.sh\n": "make check; make test",
		"check:\n\truff check\n":                        "", // it looks for style
		"check:\n\tpytest\n":                            "make check",
	} {
		var notes strings.Builder
		s := trees.Survey(t, map[string]string{"Makefile": makefile, "pytest.ini": "[pytest]\n", "test_a.py": "def test_a():\n    pass\n", "golden.sh": ""}, &notes, "python3", "pytest", "make")
		var got []string
		for _, p := range FindProjects(s) {
			if p.Eco.Calls {
				continue
			}
			for _, c := range p.OwnTests {
				got = append(got, c.Text)
			}
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%q: %q, want %q", makefile, got, want)
		}
	}
}
