// Package terminal shows a run on standard output or standard error while it goes.
//
// On a terminal a [Progress] keeps the last lines alive; elsewhere it prints lines. A
// [Console] is what it prints to: in a job of GitHub Actions no line of it is a command
// for the runner. Text that others wrote goes through [Printable] first.
package terminal
