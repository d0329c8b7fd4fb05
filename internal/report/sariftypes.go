package report

// The part of SARIF 2.1.0 that ycbot writes, as
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html defines it.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool              sarifTool          `json:"tool"`
	AutomationDetails sarifAutomation    `json:"automationDetails"`
	Provenance        []sarifRevision    `json:"versionControlProvenance,omitempty"`
	Invocations       []sarifInvocation  `json:"invocations"`
	Results           []sarifResult      `json:"results"`
	Properties        sarifRunProperties `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string             `json:"id"`
	Name             string             `json:"name"`
	ShortDescription sarifMessage       `json:"shortDescription"`
	FullDescription  sarifMessage       `json:"fullDescription"`
	HelpURI          string             `json:"helpUri"`
	Configuration    sarifConfiguration `json:"defaultConfiguration"`
}

type sarifConfiguration struct {
	Level sarifLevel `json:"level"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifRevision struct {
	RepositoryURI string `json:"repositoryUri"`
	RevisionID    string `json:"revisionId"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool                `json:"executionSuccessful"`
	StartTimeUTC        string              `json:"startTimeUtc,omitempty"`
	EndTimeUTC          string              `json:"endTimeUtc,omitempty"`
	Notifications       []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   sarifLevel   `json:"level"`
	Message sarifMessage `json:"message"`
}

// A sarifLevel says how bad a result is.
type sarifLevel string

const (
	levelError   sarifLevel = "error"
	levelWarning sarifLevel = "warning"
	levelNote    sarifLevel = "note"
)

type sarifResult struct {
	RuleID              string                `json:"ruleId"`
	RuleIndex           int                   `json:"ruleIndex"`
	Level               sarifLevel            `json:"level"`
	Message             sarifMessage          `json:"message"`
	Locations           []sarifLocation       `json:"locations"`
	PartialFingerprints map[string]string     `json:"partialFingerprints"`
	Properties          sarifResultProperties `json:"properties"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifMessage `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// sarifResultProperties is the property bag of a result: what SARIF has no word for.
type sarifResultProperties struct {
	CheckID      string       `json:"checkId,omitempty"`
	Kind         Kind         `json:"kind,omitempty"`
	Support      Support      `json:"support,omitempty"`
	Reproduction Reproduction `json:"reproduction,omitempty"`
	Evidence     []string     `json:"evidence"`
	Command      string       `json:"command,omitempty"` // that shows it, as it was run
}

// sarifRunProperties is the property bag of the run.
type sarifRunProperties struct {
	Verdict     Verdict  `json:"verdict"`
	Outcome     Outcome  `json:"outcome"`
	Reasons     []string `json:"reasons"`
	RunID       string   `json:"runId"`
	HeadSHA     string   `json:"headSha"`
	BaseSHA     string   `json:"baseSha"`
	MergeBase   string   `json:"mergeBase"`
	PullRequest int      `json:"pullRequest,omitempty"`
	Sandbox     string   `json:"sandboxTier"`
	Model       string   `json:"model"`
	Reproduce   string   `json:"reproduce,omitempty"`
}
