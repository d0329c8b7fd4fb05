package main

import (
	"fmt"
	"path/filepath"
)

// A peer is a program that asks a model and runs the tools that it wants, as
// ycbot's agents do.
type peer struct {
	name string
	// program is a pattern below the folder of its npm package and of what that
	// brings: the native one, where a package has one.
	program string
	node    bool
	// files of its home, env and args are those that make it ask the server at $URL
	// about $TASK, and no one else about anything. $HOME is its home.
	files map[string]string
	env   []string
	args  []string
	read  func(dir, file string) call
	shell func(command string) call
}

// peerModel is a name that all of them know how to talk to.
const peerModel = "gpt-5.1"

// task is what the model, who answers by a script, is asked for.
const task = "Read the files of src and say whether they are all there."

func args(format string, values ...any) string { return fmt.Sprintf(format, values...) }

func peers() []peer {
	return []peer{
		{
			name: "pi", program: "@mariozechner/pi-coding-agent/dist/cli.js", node: true,
			files: map[string]string{".pi/agent/models.json": `{"providers":{"local":{"baseUrl":"$URL/v1","api":"openai-completions","apiKey":"x","models":[{"id":"gpt-5.1","contextWindow":1000000,"maxTokens":8000}]}}}`},
			env:   []string{"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1"},
			args:  []string{"-p", "--provider", "local", "--model", peerModel, "$TASK"},
			read:  func(_, file string) call { return call{"read", args(`{"path":%q}`, file)} },
			shell: func(command string) call { return call{"bash", args(`{"command":%q}`, command)} },
		},
		{
			name: "codex", program: "@openai/codex-*/vendor/*/bin/codex",
			files: map[string]string{".codex/config.toml": "model = \"gpt-5.1\"\nmodel_provider = \"local\"\nmodel_context_window = 1000000\ncheck_for_update_on_startup = false\n" +
				"[analytics]\nenabled = false\n[model_providers.local]\nname = \"local\"\nbase_url = \"$URL/v1\"\nwire_api = \"responses\"\n"},
			args:  []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "$TASK"},
			read:  func(_, file string) call { return call{"exec_command", args(`{"cmd":"cat %s"}`, file)} }, // it has no tool that reads
			shell: func(command string) call { return call{"exec_command", args(`{"cmd":%q}`, command)} },
		},
		{
			name: "opencode", program: "opencode-linux-x64/bin/opencode",
			files: map[string]string{".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","permission":"allow","model":"local/gpt-5.1","small_model":"local/gpt-5.1",` +
				`"provider":{"local":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"$URL/v1","apiKey":"x"},"models":{"gpt-5.1":{"tool_call":true,"limit":{"context":1000000,"output":8000}}}}}}`},
			env:  []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
			args: []string{"run", "--title", "files", "$TASK"},
			read: func(dir, file string) call { return call{"read", args(`{"filePath":%q}`, filepath.Join(dir, file))} },
			shell: func(command string) call {
				return call{"bash", args(`{"command":%q,"description":"Does nothing"}`, command)}
			},
		},
		{
			name: "claude-code", program: "@anthropic-ai/claude-code-*/claude",
			env:  []string{"ANTHROPIC_BASE_URL=$URL", "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1"},
			args: []string{"-p", "--model", "sonnet", "--allowedTools", "Read,Bash", "--", "$TASK"},
			read: func(dir, file string) call { return call{"Read", args(`{"file_path":%q}`, filepath.Join(dir, file))} },
			shell: func(command string) call {
				return call{"Bash", args(`{"command":%q,"description":"Does nothing"}`, command)}
			},
		},
	}
}
