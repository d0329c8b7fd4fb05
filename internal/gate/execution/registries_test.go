package execution

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Without the proxy there is no network: nothing falls back to the machine's.
func TestSetupWithoutTheProxy(t *testing.T) {
	t.Parallel()
	e := New(Machine{Network: NetworkRegistries}, Job{})
	c := sandbox.Command{Network: e.Network.Of(sandbox.NetworkHost)}
	for _, side := range []results.Side{results.Base, results.Head} {
		proxied, err := e.restrain(t.Context(), side, ecosystem.Command{Stage: results.StageSetup, Network: sandbox.NetworkHost}, &c)
		if err != nil || proxied != nil || c.Network != sandbox.NetworkNone {
			t.Errorf("%v, %v, network %v", proxied, err, c.Network)
		}
	}
}

// Only package managers that run nothing of what they fetch by git have git.
func TestGitOfStrangers(t *testing.T) {
	t.Parallel()
	for _, eco := range languages.All() {
		e := New(Machine{Network: NetworkRegistries}, Job{})
		run := sandbox.Command{}
		c := ecosystem.Command{Stage: results.StageSetup, Network: sandbox.NetworkHost, Eco: eco.Name, Data: func(*ecosystem.Survey) map[string][]byte { return nil }}
		if _, err := e.restrain(t.Context(), results.Head, c, &run); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "git", "ls-remote", "https://127.0.0.1:1/x.git")
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, run.Env...)
		out, _ := cmd.CombinedOutput() // there is no such server
		want := eco.Name != "Go" && eco.Name != "PHP"
		if refused := strings.Contains(string(out), "not allowed"); refused != want {
			t.Errorf("%s: git is refused: %v\n%s", eco.Name, refused, out)
		}
	}
}
