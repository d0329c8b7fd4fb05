// Package sides is what the gate reads of both sides of a change: which files are tests, their
// data and what steers them, which tests of the base a file can influence, and where a test
// of the base stands in the head.
//
// It reads commits, trees and texts, and runs nothing. What is known of one language stands
// in its package below ecosystem, what a text says of other files in package classes, and what
// results of tests mean in package compare.
package sides
