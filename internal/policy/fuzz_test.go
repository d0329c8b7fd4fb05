package policy

import (
	"strings"
	"testing"
)

// Checking a script ends, whatever the script.
func FuzzCheckShell(f *testing.F) {
	f.Add("f() { f | f & }; $(x) `y` <<E\nE\n> /dev/sda")
	f.Add("env -S 'sh -c \"eval x\"' [[ a =~ b ]] && ((1))")
	f.Fuzz(func(_ *testing.T, command string) {
		CheckShell(command)
		Read(command)
		Inspect(command)
	})
}

// A program that is denied stays denied however its name is spelled, and whatever is put
// around it that runs it all the same.
func FuzzSpellings(f *testing.F) {
	denied := []string{"sudo id", "doas id", "pkexec id", "shutdown -h now", "mkfs.ext4 /dev/sda1", "dd if=/dev/zero of=/dev/sda", "rm -rf /"}
	for i, command := range denied {
		if d, _ := CheckShell(command); d == nil {
			f.Fatalf("%q is not denied", command)
		}
		f.Add(uint8(i), []byte{0, 1, 2, 3, 4, 5}, []byte{byte(i), byte(i + 7), byte(2 * i), byte(9 * i)})
	}
	f.Add(uint8(0), []byte{3, 3, 3, 3}, []byte{0, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, which uint8, quotes, around []byte) {
		command := respelled(denied[int(which)%len(denied)], quotes)
		for i, n := range around[:min(len(around), 4)] {
			forms := programs
			if i >= 2 { // what programs run is no script
				forms = scripts
			}
			form := forms[int(n)%len(forms)]
			if strings.Contains(form, "'%'") {
				command = strings.ReplaceAll(command, "'", `'\''`)
			}
			command = strings.Replace(form, "%", command, 1)
		}
		if d, note := CheckShell(command); d == nil && !strings.Contains(note, "does not parse") {
			t.Errorf("%q is not denied, and %q is", command, denied[int(which)%len(denied)])
		}
	})
}

// What stands above a line that does not parse is run by bash, and denied.
func TestAboveWhatDoesNotParse(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{"sudo id\n)": true, "ls; sudo id\nif": true, "sudo id\nif true\nthen (\n\n": true, "ls\n)": false} {
		if d, note := CheckShell(command); (d != nil) != want || d == nil && note == "" {
			t.Errorf("%q: %+v, %q", command, d, note)
		}
	}
}

// respelled puts quotes into the words of a command, as a shell takes away again.
func respelled(command string, quotes []byte) string {
	var b strings.Builder
	for i, r := range command {
		how := byte(0)
		if len(quotes) > 0 {
			how = quotes[i%len(quotes)] % 8
		}
		switch {
		case r == ' ':
			b.WriteString([]string{" ", "  ", "\t", " \\\n", " ", " ", " ", " "}[how])
		case how == 1:
			b.WriteString("'" + string(r) + "'")
		case how == 2:
			b.WriteString(`"` + string(r) + `"`)
		case how == 3:
			b.WriteString(`\` + string(r))
		case how == 4:
			b.WriteString("''" + string(r))
		case how == 5:
			b.WriteString(string(r) + `""`)
		case how == 6:
			b.WriteString("\\\n" + string(r))
		case how == 7:
			b.WriteString("$'" + string(r) + "'")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// programs run the command that they are given, and scripts run it as well.
var (
	programs = []string{
		"%", "command %", "env %", "env A=b %", "nice -n 5 %", "nohup %", "timeout 5 %", "exec %", "xargs %", "setsid %", "stdbuf -o0 %",
		"bash -c '%'", "sh -ec '%'", "eval '%'", "bash -O extglob -c '%'", "bash --rcfile f -co posix '%'", "eval -- '%'", "trap -- '%' EXIT", "mapfile -C '%' a",
	}
	scripts = []string{
		"true && %", "false || %", "true; %", "true\n%", "( % )", "{ %; }", "if true; then %; fi", "while :; do %; break; done",
		"for x in 1; do %; done", "f() { %; }; f", "echo $(%)", "echo `true`; %", "echo x | %", "% | cat", "% &", "! %", "time %",
		"case x in x) %;; esac", "% > out", "cat <(%)", "eval '%'", "bash -c '%'", "cat <<E\n$(%)\nE", "x=$(%)", "[ \"$(%)\" ]", "until %; do :; done",
		"echo '%' | { bash; }", "(echo '%') | sh", ". /dev/stdin <<< '%'", "flock f -c '%'",
	}
)
