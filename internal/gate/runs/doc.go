// Package runs is what the runs of tests on both sides say together: how their results
// differ, which of the differences more runs settle, which tests flake and which failures
// belong to passing tests.
//
// It is given results and runs nothing. The rule by which counts decide stands in package
// compare (docs/gate.md, "Tests that disagree").
package runs
