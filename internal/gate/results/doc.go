// Package results is what runners of tests report: the results of tests by side, and what reads
// them out of the output of each runner that is known.
//
// A [Collector] gets the output of a command while it comes, and has a [Suite] when it has ended.
// Most runners write one document in the end: a function that is called Parse reads it, and
// [Documented] and its like make a collector of that. Each file is called after the language
// whose runners write what it reads; junit.go and tap.go are the formats that several share. A
// recorded output of each runner is in testdata/results, with what is read of it.
//
// It knows no ecosystem and no command. What results of both sides mean stands in package
// compare.
package results
