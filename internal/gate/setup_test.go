package gate

import "testing"

// TestSetupIsNotTriedInVain holds that the head's setup is left out where the base's failed for
// something outside, twice, and the change touches nothing that says what is fetched.
func TestSetupIsNotTriedInVain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		head  map[string][]byte
		tries int // on the head
	}{
		"a source":   {map[string][]byte{"a.js": []byte("exports.a = 2\n")}, 0},
		"a manifest": {map[string][]byte{"package.json": []byte(`{"name": "b"}`)}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := newWorld(t).run(t, &scenario{
				input: map[string][]string{"until": {"first"}, "none": {""}, "setup": {"echo 'npm error network read ECONNRESET' >&2; exit 1"}, "test": {"true"}},
				base:  map[string][]byte{"package.json": []byte("{}"), "a.js": []byte("exports.a = 1\n")},
				head:  tt.head,
			})
			tries := 0
			for _, s := range res.Steps {
				if s.Stage == StageSetup && s.Side == Head {
					tries++
				}
			}
			if tries != tt.tries || res.Verdict != Partial {
				t.Errorf("%s, the head's setup was tried %d times: %v", res.Verdict, tries, res.Reasons)
			}
		})
	}
}
