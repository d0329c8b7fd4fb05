package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/transcript"
)

// ErrNothing is returned for a folder in which no run got far enough to be
// reported on.
var ErrNothing = errors.New("no run was begun here")

// Format counts what a run directory holds and how its report follows from that. It grows
// when a report that an earlier version recorded would follow no longer: the directories in
// internal/recheck/testdata show it.
//
//   - 1 (not written down): until 2026-11-22
//   - 2: what the trees say of a check is recorded, and a check names its test
//   - 3 (since 2026-11-27): the command of a check is as a person would type it, and that which
//     repeats the run has what decides how far it goes
//   - 4 (since 2026-11-28): a linter that looks at nothing on both sides has not passed, and
//     silenced expectations are also those that other files of tests keep from failing
//   - 5 (since 2026-11-28, later): more words are results of an agent's checks; a check that the base
//     refuses, as it expects, is introduced; own commands that the change edits stand aside; outputs are
//     compared without what is measured, by the words beside it
//   - 6 (since 2026-11-29): a failure that could not be compared with base is a finding
//   - 7 (since 2026-11-29, later): what is called introduced was run more often; a failure that the
//     exit code shows is not hidden; a command in another folder is another one; errors of the
//     verification are run again; a check of the last run that held and fails is a finding
//   - 8 (since 2026-11-30): a PASS without a probe is titled so; what could not run on the base is
//     not introduced; an exit code that only branches print is hidden, and so in more ways that a
//     shell has; what a check says of an output is not shown as printed; a command that was ended
//     for a limit fails no test
//   - 9 (since 2026-12-01): more forms of an agent's report are read; a failure that the log shows
//     needs no quote; failing tests are counted beyond those that are listed
//   - 10 (since 2026-12-01, later): the title of a PASS counts marks; reasons are in other words
const Format = 10

// A FormatError is a run directory that is whole, and was recorded in another format.
type FormatError struct {
	Ycbot  string // the version that recorded it
	Format int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the run was recorded by ycbot %q in format %d of run directories, and this version reads format %d: use the version that recorded it",
		e.Ycbot, e.Format, Format)
}

// Readable says whether a run directory has the format that this version reads; else the
// error is a [FormatError].
func (b Begun) Readable() error {
	if b.Settings.Format == Format {
		return nil
	}
	return &FormatError{Ycbot: b.Settings.Versions.Ycbot, Format: max(b.Settings.Format, 1)}
}

// Begun is what a run is, from its beginning and its checkout stage.
type Begun struct {
	Dir      string // run directory
	ID       string
	Identity Identity
	Settings Settings
	Source   Source
}

// Recall reads what a run is from its journal. The error is [ErrNothing] where it was
// not begun.
func Recall(dir string, j *journal.Journal) (Begun, error) {
	settings, known := Lookup[Settings](j, "run", "circumstances")
	identity, named := Lookup[Identity](j, "run", "identity")
	if !known || !named {
		return Begun{}, fmt.Errorf("%s: %w", dir, ErrNothing)
	}
	source, _ := Lookup[Source](j, "stage", "checkout")
	return Begun{Dir: dir, ID: identity.Run, Identity: identity, Settings: settings, Source: source}, nil
}

// A Recorded is the directory of a run that is read and not written.
type Recorded struct {
	Begun   Begun
	Journal *journal.Journal
	Records []evidence.Record
}

// Read reads the journal of the run in dir, to which records belong.
func Read(dir string, records []evidence.Record) (*Recorded, error) {
	j, err := journal.Read(filepath.Join(dir, journalFile))
	if err != nil {
		return nil, err
	}
	r := &Recorded{Journal: j, Records: records}
	r.Begun, err = Recall(dir, j)
	return r, err
}

// Resumed says whether the run was broken off and continued, so that its log has
// commands that nothing refers to.
func (r *Recorded) Resumed() bool {
	events, err := ReadEvents(r.Begun.Dir)
	if err != nil {
		return false
	}
	for _, e := range events {
		if e.Type == transcript.RunResumed {
			return true
		}
	}
	return false
}

// Output is what a recorded command wrote to its two streams.
func (r *Recorded) Output(rec evidence.Record) (stdout, stderr []byte, err error) {
	return evidence.Outputs(r.Begun.Dir, rec)
}

// ReadEvents reads events.jsonl.
func ReadEvents(dir string) ([]transcript.Event, error) {
	file, err := os.Open(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return transcript.Read(file)
}

// ReadReport reads report.json.
func ReadReport(dir string) (*report.Report, error) {
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, err
	}
	rep, err := report.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "report.json"), err)
	}
	rep.ReportDir = dir
	return rep, nil
}

// IsFinished says whether dir holds a run that was sealed.
func IsFinished(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, sumsFile))
	return err == nil
}
