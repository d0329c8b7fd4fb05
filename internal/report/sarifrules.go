package report

import "slices"

// The rules are one for each kind of check and one for findings. Their ids are
// stored by those who read the logs: do not change them.

const findingRule = "ycbot/finding"

func checkRule(k Kind) string { return "ycbot/" + string(k) }

func sarifRules() []sarifRule {
	return []sarifRule{
		sarifRuleOf(KindBuild, "Build", levelError, "A build fails.",
			"A command that sets up or builds the change failed. It was compared with the same command on the base."),
		sarifRuleOf(KindTest, "Test", levelError, "A test fails.",
			"A test that passes on the base, or that only the change has, failed on the head."),
		sarifRuleOf(KindLint, "Lint", levelWarning, "A linter complains.",
			"A linter has complaints about the head that it does not have about the base. They change no verdict."),
		sarifRuleOf(KindFailToPass, "FailToPass", levelError, "The change's tests do not show what it fixes.",
			"The tests of the change were laid over the sources of the base, where they should fail."),
		sarifRuleOf(KindKept, "Kept", levelError, "A test of the base fails over the change.",
			"The base's tests were laid over the sources of the change. What they expect does not hold any more."),
		sarifRuleOf(KindProbe, "Probe", levelError, "A probe fails.",
			"Tests of what changed failed when they were repeated, shuffled or run with the race detector, and do not on the base."),
		sarifRuleOf(KindMutation, "Mutation", levelWarning, "A changed line is not tested.",
			"A changed line was broken on purpose and no test noticed. It changes no verdict."),
		sarifRuleOf(KindBehaviour, "Behaviour", levelError, "What worked on the base does not.",
			"Changed functions, command lines of programs or requests to them were run on both sides with the same inputs. For an input of the base's tree the head crashes or hangs."),
		sarifRuleOf(KindAPI, "API", levelError, "An interface is not compatible.",
			"Something that others may use was removed or changed."),
		sarifRuleOf(KindAgent, "Agent", levelError, "A check of an agent fails.",
			"An agent ran a check of its own that failed. It was held against the evidence log and run again on head and base."),
		{
			ID: findingRule, Name: "Finding", Configuration: sarifConfiguration{levelWarning}, HelpURI: homepage,
			ShortDescription: sarifMessage{"Something that a maintainer should look at."},
			FullDescription:  sarifMessage{"Something that the run noticed beside its checks, with the evidence for it."},
		},
	}
}

func sarifRuleOf(k Kind, name string, level sarifLevel, short, full string) sarifRule {
	return sarifRule{
		ID: checkRule(k), Name: name, Configuration: sarifConfiguration{level}, HelpURI: homepage,
		ShortDescription: sarifMessage{short}, FullDescription: sarifMessage{full},
	}
}

func sarifRuleIndex(id string) int {
	return slices.IndexFunc(sarifRules(), func(r sarifRule) bool { return r.ID == id })
}
