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
		"test:\n\tcmake -S . -B build -DBUILD_TESTING=ON\n\tcmake --build build\n\tctest --test-dir build --output-on-failure": "",
		"test:\n\tcmake -S . -B build -DCMAKE_BUILD_TYPE=Debug\n\tctest --test-dir build":                                      "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug",
		"T = fast\nT += slow\ntest:\n\tpytest $(T:%=-m %) -W $(T)":                                                             "pytest $(T:%=-m %) -W fast slow",
		"test: test-fr\ntest-%:\n\tSHOP=$* pytest":                                                                             "test-%:",
		"S = one two\ntest: $(S)\none:\n\tpytest\ntwo:\n\tSHOP=fr pytest":                                                      "SHOP=fr pytest",
		"test: gen\n\tgo test ./...\ngen:\n\tsed s/a/b/ in > out":                                                              "sed s/a/b/ in > out",
		"test:\n\tgo test ./... > out.txt\n\t@echo done 2>/dev/null":                                                           "",
		"test:\n\tcp a.json b.json\n\tpytest":                                                                                  "cp a.json b.json",
		"test:\n\tSHOP=fr npm run build\n\tnpm test":                                                                           "SHOP=fr npm run build",
		"test:\n\texport SHOP=fr; pytest":                                                                                      "export SHOP=fr; pytest",
		"test:\n\tRUBYOPT=-W:error rake test":                                                                                  "RUBYOPT=-W:error rake test",
		"include more.mk\ntest: all\n\tpytest":                                                                                 "include more.mk",
		"test:\n\tcmake -S . -B build -DSHOP_TRACE=ON\n\tctest --test-dir build":                                               "cmake -S . -B build -DSHOP_TRACE=ON",
		"test:\n\tmeson setup -Dtrace=true build\n\tmeson test -C build":                                                       "meson setup -Dtrace=true build",
		"test:\n\t./run.sh": "", // which is no call of a runner: scripts are looked at by themselves
		"test:\n\tgo test ./...\n\tgo test -run=XXX -bench=. -benchtime=1x ./...":      "go test -run=XXX -bench=. -benchtime=1x ./...",
		"test:\n\tpytest\n\tpytest checks/*.py":                                        "pytest checks/*.py",
		"test:\n\tpytest\n\tpython3 -m unittest checks.at":                             "python3 -m unittest checks.at",
		"test:\n\tpytest\n\tfind checks -name '*.py' | xargs python3 -m pytest -q":     "find checks -name '*.py' | xargs python3 -m pytest -q",
		"test:\n\tpytest\n\t$(MAKE) -C e2e":                                            "$(MAKE) -C e2e",
		"test:\n\tnpm test\n\tnpm run check":                                           "npm run check",
		"test:\n\tnpm run build && npm test":                                           "",
		"test:\n\tnpm run-script check:fr":                                             "npm run-script check:fr",
		"test:\n\tyarn test:fr":                                                        "yarn test:fr",
		"test:\n\tnpm --prefix web test\n\tnpm ci":                                     "",
		"test:\n\tnpm --prefix docs test":                                              "npm --prefix docs test",
		"test:\n\tenv SHOP=fr pytest":                                                  "env SHOP=fr pytest",
		"test:\n\tenv PATH=/x CI=1 pytest":                                             "",
		"test:\n\txvfb-run pytest":                                                     "xvfb-run pytest",
		"test:\n\ttime -p timeout 60 nice uv run --extra test -m pytest -q":            "",
		"test:\n\tuv run --env-file .env pytest":                                       "uv run --env-file .env pytest",
		"test:\n\tuv run ./golden.py":                                                  "uv run ./golden.py",
		"test: export SHOP = fr\ntest:\n\tpytest":                                      "test: export SHOP = fr",
		"export\nSHOP = fr\ntest:\n\tpytest":                                           "export",
		".EXPORT_ALL_VARIABLES:\nSHOP = fr\ntest:\n\tpytest":                           ".EXPORT_ALL_VARIABLES:",
		"export PATH HOME\ntest:\n\tpytest":                                            "",
		"include run.sh\nexport PATH\ntest:\n\tpytest":                                 "include run.sh",
		"-include gone.mk\ntest:\n\tpytest":                                            "",
		"test:\n\t$(MAKE) unit SHOP=fr\nunit:\n\tpytest":                               "$(MAKE) unit SHOP=fr",
		"test:\n\t$(MAKE) -s unit\nunit:\n\tpytest":                                    "",
		"test:\n\t$(MAKE) -f e2e.mk run":                                               "$(MAKE) -f e2e.mk run",
		"test:\n\tgo test ./...\n\ttest \"$$(go run ./cmd/shop FR)\" = 20":             "test \"$(go run ./cmd/shop FR)\" = 20",
		"test:\n\tgo test ./...\n\t[[ \"$$(./shop)\" == 20 ]]":                         "[[ \"$(./shop)\" == 20 ]]",
		"test:\n\tgo test $$(go list ./... | grep -v vendor)":                          "",
		"P = $(shell go list ./... | grep -v vendor)\nT = $(P)\ntest:\n\tgo test $(T)": "",
		"test:\n\tgo test -tags pro ./...":                                             "go test -tags pro ./...",
		"test:\n\t./test.sh":                                                           "./test.sh",
		"build:\n\tgo build":                                                           "",
	} {
		t.Run(makefile, func(t *testing.T) {
			t.Parallel()
			var notes strings.Builder
			s := trees.Survey(t, map[string]string{"Makefile": makefile + "\n", "run.sh": "", "test.sh": "pytest -x\n", "more.mk": "all:\n\techo\n"}, &notes)
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
		"export X\ncheck:\n\truff check\n":              "",
		"check:\n\tpytest\n":                            "make check",
	} {
		var notes strings.Builder
		s := trees.Survey(t, map[string]string{"Makefile": makefile, "pytest.ini": "[pytest]\n", "test_a.py": "def test_a():\n    pass\n", "golden.sh": ""}, &notes, "python3", "pytest", "make")
		var got []string
		for _, p := range FindProjects(s) {
			if p.Eco.Calls {
				continue
			}
			if p.Target == "" && p.Differs != "" {
				t.Errorf("%q: it has no target for tests, which would do %q", makefile, p.Differs)
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
