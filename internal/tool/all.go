package tool

// FileTools returns the tools that read files.
func FileTools(t Trees) []Tool {
	out := []Tool{ReadFile(t), ReadManyFiles(t), ListDir(t), ListProjectStructure(t), Glob(t), Grep(t)}
	for i := range out {
		out[i] = t.behind(out[i])
	}
	return out
}

// GitTools returns the tools that read history.
func GitTools(r Repo) []Tool {
	return []Tool{
		ListGitChangedFiles(r), GitBranchStatus(r), GitShowFileAtRev(r), GitDiffFiles(r),
		GitLogFile(r), GitBlameLines(r), GitMergeBase(r),
	}
}

// PullTools returns the tools that read what was said of the pull request. They
// exist for a run of one alone.
func PullTools(p Pull, r Repo) []Tool { return []Tool{PRRead(p), PRReviewContext(p, r)} }

// Declared are all tools that can be called, without what it takes to run them: their
// names, classes and what calls of them are about.
func Declared() []Tool {
	out := append(FileTools(Trees{}), GitTools(Repo{})...)
	out = append(out, PullTools(Pull{}, Repo{})...)
	out = append(out, (&Processes{}).Tools()...)
	return append(out, TodoWrite(&Todos{}), Bash(&Shell{}), RunTests(Suites{Shell: &Shell{}}), Screenshot(Screen{}), FetchURL(Fetcher{}), SubmitResult(&Submission{}))
}
