package elixir

import "testing"

// TestMergeConfig holds which settings of the base the kept arm has.
func TestMergeConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, base, head, want string }{
		{"a level", "import Config\n\nconfig :logger, level: :debug\n", "import Config\n\nconfig :shop, tax: 19\nconfig :logger, level: :error\n", "import Config\n\nconfig :logger, level: :debug\nconfig :shop, tax: 19\n"},
		{"a new setting", "import Config\n", "import Config\n\nconfig :ex_unit,\n  assert_receive_timeout: 5000\n\nimport_config \"#{config_env()}.exs\"\n", "import Config\n\nimport_config \"#{config_env()}.exs\"\n"},
		{"one that is gone", "import Config\nconfig :logger, level: :debug\n", "import Config\nconfig :shop, tax: 19\n", "import Config\nconfig :logger, level: :debug\nconfig :shop, tax: 19\n"},
		{"of something else", "import Config\nconfig :logger, level: :info\n", "import Config\nconfig :shop, tax: 19\nconfig :logger, level: :info\n", "import Config\nconfig :shop, tax: 19\nconfig :logger, level: :info\n"},
		{"a new file", "", "import Config\nconfig :ex_unit, exclude: [:slow]\nconfig :shop, tax: 19\n", "import Config\nconfig :shop, tax: 19\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			got, err := mergeConfig([]byte(tt.base), []byte(tt.head))
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
}
