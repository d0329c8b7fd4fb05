package compare

// A Policy is what given-up expectations come to (ycbot.yml "expectations").
type Policy string

// The policies, from the mildest to the strictest.
const (
	Report      Policy = "report"      // list them
	Acknowledge Policy = "acknowledge" // a person must accept those that hide most
	Strict      Policy = "strict"      // they fail the change until a person accepts them
)

// An Effect is what a class does to the verdict.
type Effect string

// The effects, from the mildest to the gravest.
const (
	None    Effect = ""
	Listed  Effect = "listed"  // stands in the report and is counted in the title
	Partial Effect = "partial" // PARTIAL until accepted
	Fail    Effect = "fail"
)

// EffectOf is what a class does under a policy. subjectStands says of a dropped
// expectation that what it tested is still in the head's tree.
func EffectOf(c Class, p Policy, subjectStands bool) Effect {
	return EffectOn(c, p, subjectStands, false)
}

// EffectOn is EffectOf, where own says that the expectation is what a project's own command, beside
// the runner of its tests, makes of them as a whole: all of them hold by themselves, and how that
// command is made is the maintainers' to change.
func EffectOn(c Class, p Policy, subjectStands, own bool) Effect {
	switch c {
	case Holds:
		return None
	case Regressed, Silenced:
		return Fail
	case Silent:
		return Partial
	}
	if p == Strict {
		return Fail
	}
	switch {
	case c == SteeringMade && (p == Acknowledge || !own):
		return Partial
	case p != Acknowledge:
		return Listed
	case c == Weakened, c == SupportMade, c == CannotApply, c == Dropped && subjectStands:
		return Partial
	}
	return Listed
}

// Acceptable says whether a person may accept an effect of a class: what is known
// to be broken cannot be accepted.
func Acceptable(c Class) bool { return c != Regressed && c != Silenced }

// Floor is the policy that holds: untrusted heads and machine authors have at
// least [Acknowledge], whatever a repository configures.
func Floor(configured Policy, untrusted, promisesNoChange bool) Policy {
	switch {
	case configured == Strict:
		return Strict
	case untrusted:
		return Acknowledge
	case configured != "":
		return configured
	case promisesNoChange:
		return Acknowledge
	}
	return Report
}
