package classes

import (
	"strings"
	"testing"
)

// TestFoldersRead holds which folders recipes and scripts read without the name of each file.
func TestFoldersRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, sets, want string }{
		"as a whole":              {"\tdiff -r cases/want out\n", "", "cases/want out"},
		"silently":                {"\t@diff -ru \"want\" out || exit 1\n", "", "want out"},
		"in a recipe":             {"./shop.sh $$(cat $$f) | cmp - want/$$n || exit 1\n", "", "want"},
		"in a script":             {"./shop.sh $(cat \"$f\") | diff -u \"want/$n\" - || exit 1\n", "", "want"},
		"with an extension":       {"test \"$(./a)\" = \"$(cat cases/want/${n}.txt)\"\n", "", "cases/want"},
		"by a variable":           {"diff $(WANT)/$$n -\n", "WANT = want\n", "want"},
		"by a variable of others": {"diff -r $(WANT) out\n", "T := cases\nWANT := $(T)/want\n", "cases/want out"},
		"from its own folder":     {"diff \"$(dirname \"$0\")/want/$n\" -\n", "", "want"},
		"from a variable":         {"here=$(cd . && pwd)\ncat $here/want/$n\n", "", "want"},
		"a file by its name":      {"\tdiff want/fr out/fr\n", "", "want/fr out/fr"},
		"nothing":                 {"\t./shop.sh FR 100\n\tgo vet ./...\n", "", ""},
		"no folder":               {"diff $a $b; cat /tmp/$n\n", "", "tmp"},
	} {
		if got := strings.Join(FoldersRead(tt.text, tt.sets), " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	for text, want := range map[string]bool{
		"cat rates/$1\n": true, "open(\"rates\")": true, "os.path.join('rates', x)": true, "\"a/rates\"": true,
		"the rates of a country": false, "corates/x": false, "rates-x": false,
	} {
		if got := NamesFolder(text, "data/rates"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
