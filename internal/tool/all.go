package tool

// FileTools returns the tools that read files.
func FileTools(t Trees) []Tool {
	return []Tool{ReadFile(t), ReadManyFiles(t), ListDir(t), ListProjectStructure(t), Glob(t), Grep(t)}
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
