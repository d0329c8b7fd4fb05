package rundir

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

// WriteReport writes the report in all its forms. config is the digest of the
// configuration that the run used, by the configuration's name; none: it had none.
func (d *Dir) WriteReport(rep *report.Report, config map[string]string) error {
	js, err := rep.JSON()
	if err != nil {
		return err
	}
	where, out := rep.Where, rep.ReportDir
	if rep, err = report.Parse(redact.InJSON(d.redact, js)); err != nil {
		return err
	}
	rep.Where, rep.ReportDir = where, out
	forms, err := Forms(rep)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		if err := d.put(name, forms[name]); err != nil {
			return err
		}
	}
	statement, err := Statement(d.Path, rep, config)
	if errors.Is(err, report.ErrNoHead) { // there is nothing to state
		return nil
	}
	if err != nil {
		return err
	}
	return d.put(StatementFile, redact.InJSON(d.redact, statement))
}

// Forms are the files that are made of the report alone.
func Forms(rep *report.Report) (map[string][]byte, error) {
	js, err := rep.JSON()
	if err != nil {
		return nil, err
	}
	sarif, err := rep.SARIF()
	if err != nil {
		return nil, err
	}
	junit, err := rep.JUnit()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"report.json": js, "report.md": []byte(rep.Markdown()), "report.sarif": sarif, "junit.xml": junit}, nil
}

// StatementFile is what the run states about the head.
const StatementFile = "statement.intoto.json"

// Statement makes it, with the digests of what it rests on. The error is [report.ErrNoHead]
// without a head.
func Statement(dir string, rep *report.Report, config map[string]string) ([]byte, error) {
	digests := maps.Clone(config)
	if digests == nil {
		digests = map[string]string{}
	}
	for _, name := range statedFiles {
		sum, err := fileSum(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		digests[name] = sum
	}
	return rep.InToto(digests, "")
}

// statedFiles are the files of the run that the statement rests on.
var statedFiles = []string{"report.json", "evidence.jsonl"}

// Restate makes the statement that is in a directory once more, for the configuration that
// it names.
func Restate(dir string, rep *report.Report) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, StatementFile))
	if err != nil {
		return nil, err
	}
	var have struct {
		Predicate struct {
			Configuration []struct {
				Name, MediaType string
				Digest          struct{ SHA256 string }
			}
		}
	}
	if err := json.Unmarshal(data, &have); err != nil {
		return nil, err
	}
	config := map[string]string{}
	for _, c := range have.Predicate.Configuration {
		if c.MediaType == "" && !slices.Contains(statedFiles, c.Name) {
			config[c.Name] = c.Digest.SHA256
		}
	}
	return Statement(dir, rep, config)
}

// Seal ends the run: nothing is written to its directory after SHA256SUMS, which
// "sha256sum -c" reads.
func (d *Dir) Seal() error {
	var lines []string
	err := filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == filepath.Join(d.Path, sumsFile) || path == filepath.Join(d.Path, sumsDraft) {
			return err
		}
		sum, err := fileSum(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(d.Path, path)
		if err != nil {
			return err
		}
		lines = append(lines, sum+"  "+filepath.ToSlash(rel)+"\n")
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", sumsFile, err)
	}
	// It says that the run is finished, so it is there as a whole or not at all.
	if err := d.Write(sumsDraft, []byte(strings.Join(lines, ""))); err != nil {
		return err
	}
	return os.Rename(filepath.Join(d.Path, sumsDraft), filepath.Join(d.Path, sumsFile))
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Verify compares every file of a finished run directory with SHA256SUMS. It returns
// the digest of that file, in hex, and what is not as the run left it, sorted.
func Verify(dir string) (digest string, problems []string, err error) {
	sums, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if why := brokenOff(dir); err != nil && why != "" {
		return "", nil, fmt.Errorf("%s is not a finished run: %s", dir, why)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("%s is not a finished run (no SHA256SUMS): give the folder printed after \"report:\"", dir)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s is not a finished run: %w: give the folder printed after \"report:\"", dir, err)
	}
	digest = Digest(string(sums))
	want := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(sums))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || !filepath.IsLocal(name) {
			problems = append(problems, fmt.Sprintf("SHA256SUMS: %q is not a line of it", lines.Text()))
			continue
		}
		want[name] = sum
	}
	form, found := compareFiles(dir, want)
	problems = append(problems, found...)
	kept := filepath.Base(dir) == Previous // a run that is kept is without the one that it kept
	for name, sum := range want {
		if kept && strings.HasPrefix(name, Previous+"/") {
			sums = bytes.ReplaceAll(sums, fmt.Appendf(nil, "%s  %s\n", sum, name), nil)
			continue
		}
		problems = append(problems, name+": missing")
	}
	slices.Sort(problems)
	if len(problems) == 0 && !bytes.Equal(form, sums) {
		problems = append(problems, "SHA256SUMS: not in the form in which a run writes it")
	}
	return digest, problems, nil
}

// brokenOff says of a run that has a journal and no end what continues it; "": dir is none.
func brokenOff(dir string) string {
	if problems, err := Bounded(dir); err != nil || len(problems) > 0 || IsFinished(dir) {
		return ""
	}
	r, err := Read(dir, nil)
	switch {
	case err != nil:
		return ""
	case r.Begun.Settings.Trigger != "cli" || r.Begun.Source.Change.BaseSHA == "":
		return "it has no SHA256SUMS: it was broken off, and goes on when what began it is given again, with this folder"
	}
	return "it is still running, or was broken off and goes on with: " + r.Begun.resume()
}

// compareFiles compares the files of dir with their sums and takes what it finds out
// of want. It returns SHA256SUMS as the run would write it now.
func compareFiles(dir string, want map[string]string) (form []byte, problems []string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == filepath.Join(dir, sumsFile) {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		sum, known := want[name]
		delete(want, name)
		switch {
		case !known:
			problems = append(problems, name+": the run did not write it")
		case !e.Type().IsRegular():
			problems = append(problems, name+": no regular file")
		default:
			have, err := fileSum(path)
			form = fmt.Appendf(form, "%s  %s\n", have, name)
			if err != nil || have != sum {
				problems = append(problems, name+": not what the run wrote")
			}
		}
		return nil
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	return form, problems
}
