// Package imports holds the shape of the repository: tests of who may import
// whom, of what stands at the top level, and of names and start-up code.
//
// The tests read the files themselves rather than asking "go list". go test
// then knows what they read and never reuses an old pass when a file changes.
package imports
