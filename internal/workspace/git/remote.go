package git

// A Remote is a repository that git can fetch from.
type Remote struct {
	URL string
	// Settings are git settings for fetching, "key=value", such as an
	// http.extraheader that carries a credential. They are passed on in the
	// environment and stored nowhere.
	Settings []string
	// Size is how much its history weighs, in KB, as GitHub's API says; 0: not
	// known. Of a large one the first fetch leaves old file contents for later.
	Size int64
}
