package bench_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	browsertest "github.com/ycbot/ycbot/internal/testing/browser"
	docstest "github.com/ycbot/ycbot/internal/testing/docs"
	gotest "github.com/ycbot/ycbot/internal/testing/gocache"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench"
	"github.com/ycbot/ycbot/test/bench/benchtest"
)

// TestSetUpInBrowser goes from nothing to a working App by the steps of the documentation,
// word for word, with a browser for what is done in one: alice makes the App, serves it and
// installs it in a repository of hers that no one else may see. A pull request there is
// verified, and she watches that from its first stage to the verdict on one page that is
// never loaded again.
func TestSetUpInBrowser(t *testing.T) {
	variants.Only(t) // minutes with a browser, beside TestApp
	t.Parallel()
	g := benchtest.Start(t)
	needNamespaces(t)
	o := newOperator(t, g)
	steps := docstest.Blocks(t, filepath.Join(o.root, "docs/operate.md"), "Set up", "sh")
	if len(steps) != 3 {
		t.Fatalf("the documentation has %d steps, want 3: %q", len(steps), steps)
	}
	repo := g.OwnRepo("sums", map[string]string{
		".github/ycbot.yml": settings, "sum.sh": "echo $(($1 + $2))\n", "test.sh": "test \"$(sh sum.sh 1 1)\" = 2\n",
	})
	g.OwnRepo("other", map[string]string{"a.txt": "1\n"})

	page := o.makes(steps[0])
	server := g.Serve(o.types(steps[1]))
	o.proxy.leads(server.Addr)
	g.Find(publicURL, "http://"+server.Addr)
	o.installs(page, repo)
	server.Says("delivery stored", "event=installation", "status=accepted")
	out, err := o.types(steps[2]).CombinedOutput()
	for _, want := range []string{"with the permissions and events that it needs", "a server answers at " + publicURL} {
		if !strings.Contains(string(out), want) {
			t.Errorf("doctor does not say %q: %v\n%s", want, err, out)
		}
	}
	head := o.watches(repo)
	server.Says("run has ended", "state=finished")
	checks := repo.CheckRuns(head)
	if len(checks) != 1 || checks[0].GetStatus() != "completed" || checks[0].GetConclusion() != "success" {
		t.Errorf("check runs are %v, want one that is a success", checks)
	}
	comments := repo.Comments(1)
	if len(comments) != 1 || comments[0].GetUser().GetLogin() != "ycbot-ycbot-example-com[bot]" || !strings.Contains(comments[0].GetBody(), "PASS") {
		t.Errorf("comments are %v, want one of the App's that says PASS", comments)
	}
	o.leaves(checks[0])
	o.browser.Quiet()
}

// needNamespaces skips the test where changes would not be executed.
func needNamespaces(t *testing.T) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap makes no namespaces here: %v %s", err, out)
	}
}

// An operator works in a folder with the program on the path, and in a browser.
type operator struct {
	t         *testing.T
	g         *benchtest.GitHub
	root, dir string
	env       []string
	proxy     *proxy
	browser   *browsertest.Window
	answers   chan modeltest.Answer // of the model, one after the other
}

func newOperator(t *testing.T, g *benchtest.GitHub) *operator {
	t.Helper()
	root, err := bench.Root()
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{t: t, g: g, root: root, dir: t.TempDir(), proxy: newProxy(t), answers: make(chan modeltest.Answer)}
	o.browser = browsertest.Open(t, browsertest.Options{Width: 1200, Height: 800, Flags: o.proxy.flags()})
	bin := t.TempDir()
	if err := os.Symlink(benchtest.Need(t, bench.Ycbot), filepath.Join(bin, "ycbot")); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := gotest.NoTelemetry(home); err != nil {
		t.Fatal(err)
	}
	o.env = append(o.proxy.env(t), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null",
		"YCBOT_GITHUB_URL="+g.URL, "GITHUB_SERVER_URL="+g.URL, "YCBOT_ADDR=127.0.0.1:0",
		"YCBOT_PROVIDER=openai", "YCBOT_MODEL=m", "YCBOT_API_KEY="+modeltest.Key, "YCBOT_BASE_URL="+o.model())
	return o
}

// model is one whose answers the test gives when it wants; whether it is there it says at once.
func (o *operator) model() string {
	api := modeltest.APIs()[0]
	answer := func(a modeltest.Answer) http.HandlerFunc {
		a.Usage = model.Usage{Input: 1200, Output: 80}
		return modeltest.Stream(api.Render(a)...)
	}
	ready := answer(modeltest.Answer{Text: []string{"ready"}})
	later := func(w http.ResponseWriter, r *http.Request) {
		select {
		case a := <-o.answers:
			answer(a)(w, r)
		case <-r.Context().Done():
		}
	}
	return modeltest.Serve(o.t, api, ready, ready, later, later).URL // doctor, the run, and its agent's two turns
}

// types has the operator type a command.
func (o *operator) types(command string) *exec.Cmd {
	if !strings.HasPrefix(command, "YCBOT_") { // settings before a command are no program
		command = "exec " + command
	}
	cmd := exec.CommandContext(o.t.Context(), "bash", "-c", command)
	cmd.Dir, cmd.Env = o.dir, o.env
	return cmd
}

// makes makes the App, and returns the address where it is installed.
func (o *operator) makes(command string) (page string) {
	o.t.Helper()
	o.browser.Run(chromedp.Navigate(o.g.URL + "/login"))
	o.browser.Click(`button[value="alice"]`)
	o.browser.WaitFor("location.pathname === '/'")
	cmd := o.types(command)
	var said strings.Builder
	cmd.Stdout = &said
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		o.t.Fatal(err)
	}
	door := ""
	for lines := bufio.NewScanner(stderr); door == "" && lines.Scan(); {
		door = regexp.MustCompile(`^ *http://127\.0\.0\.1:\d+/\w+/$`).FindString(lines.Text())
	}
	if door == "" {
		o.t.Fatalf("%s prints no address: %v", command, cmd.Wait())
	}
	o.browser.Run(chromedp.Navigate(strings.TrimSpace(door)))
	o.browser.Click(`form[action^="` + o.g.URL + `/settings/apps/new"] button`)
	o.browser.Click(`button[name="create"][value="alice"]`)
	o.browser.WaitFor("document.body?.innerText.includes('The App is made')")
	if err := cmd.Wait(); err != nil {
		o.t.Fatalf("%s: %v", command, err)
	}
	if page = regexp.MustCompile(`http\S+/installations/new`).FindString(said.String()); page == "" {
		o.t.Fatalf("%s does not say where the App is installed:\n%s", command, said.String())
	}
	return page
}

// installs installs the App in one repository.
func (o *operator) installs(page string, repo *benchtest.Repo) {
	o.t.Helper()
	o.browser.Run(chromedp.Navigate(page))
	for _, selector := range []string{`input[value="selected"]`, `input[data-name="` + repo.FullName() + `"]`, "form button"} {
		o.browser.Click(selector)
	}
	o.browser.WaitFor("document.title === 'ycbot ycbot.example.com is installed' && document.body.innerText.includes('" + repo.FullName() + "')")
}

// watches has bob open a pull request, and alice watch the run that comes of it. Each step
// of the run waits until she saw the one before.
func (o *operator) watches(repo *benchtest.Repo) (head string) {
	o.t.Helper()
	begins, sees := make(chan string, 1), make(chan struct{})
	o.g.During(func(c benchtest.Call) {
		if link := regexp.MustCompile(`"details_url":"(` + publicURL + `/runs/[^"]+)"`).FindSubmatch(c.Body); c.Method == http.MethodPost && link != nil {
			begins <- string(link[1])
			select {
			case <-sees:
			case <-o.t.Context().Done():
			}
		}
	})
	head = repo.Push("bob", "feature", "main", map[string]string{"sum.sh": "# adds\necho \"$(($1 + $2))\"\n"})
	repo.OpenPull("bob", "feature", "Say what it does")
	page := ""
	select {
	case page = <-begins:
	case <-time.After(time.Minute):
		o.t.Fatal("there is no check run of the pull request")
	}
	b := o.browser
	path := strings.TrimPrefix(page, publicURL)
	b.Run(chromedp.Navigate(publicURL + "/login?next=" + path))
	b.Click(`form:has(input[name="login"][value="alice"]) button`)
	b.WaitFor("location.pathname === '" + path + "' && document.querySelector('#head .big')?.textContent === 'RUNNING'")
	b.Run(chromedp.Evaluate("window.loaded = 'once'", nil))
	close(sees)
	b.WaitFor("document.querySelector('#agents .agent.running strong')?.textContent === 'verification' && document.querySelectorAll('#proofs > details').length > 1")
	b.WaitFor("[...document.querySelectorAll('#stages li')].map(e => e.className + ' ' + e.querySelector('strong').textContent).join() === 'done checkout,done preflight,done gate,running agents'")
	gate := b.Eval("document.querySelectorAll('#proofs > details').length")
	o.answers <- modeltest.Answer{Calls: []model.Call{{ID: "call_1", Name: "run_bash", Args: `{"command": "sh sum.sh -2 -3"}`}}}
	b.WaitFor("document.querySelector('#agents .agent.running .calls .tool')?.textContent === 'run_bash' && document.querySelectorAll('#proofs > details').length > " + gate)
	if got := b.Eval("document.querySelector('#head').innerText"); !strings.HasPrefix(got, "RUNNING") || !strings.Contains(got, "not known yet") {
		o.t.Errorf("before the run has ended the page says %s", got)
	}
	o.answers <- modeltest.Answer{Text: []string{"### Check: adds below zero [adversarial]\n**Command run:** `sh sum.sh -2 -3`\n**Output observed:**\n```\n-5\n```\n**Result: PASS**\n\nVERDICT: PASS"}}
	b.WaitFor("document.querySelector('#head .big').textContent === 'PASS' && document.querySelector('#report').innerText.includes('adds below zero')")
	for expression, want := range map[string]string{
		"window.loaded": "once", "performance.getEntriesByType('navigation').map(e => e.type).join()": "navigate",
		"location.pathname": path, "document.querySelectorAll('#stages .done').length": "5", "document.querySelectorAll('.running').length": "0",
	} {
		if got := b.Eval(expression); got != want {
			o.t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
	return head
}

// leaves has alice sign out: the page is not there any more, and GitHub has ended the token.
func (o *operator) leaves(check *github.CheckRun) {
	o.t.Helper()
	o.browser.Click(`form[action$="/logout"] button`)
	o.browser.WaitFor("location.pathname === '/runs'")
	o.browser.Run(chromedp.Navigate(check.GetDetailsURL()))
	if text := o.browser.Eval("document.body.innerText"); !strings.Contains(text, "404") {
		o.t.Errorf("without login the page is\n%s", text)
	}
	for _, c := range o.g.Calls() {
		if c.Method == http.MethodDelete && strings.HasPrefix(c.Path, "/applications/") && c.Status == http.StatusNoContent {
			return
		}
	}
	o.t.Error("the token was not ended")
}
