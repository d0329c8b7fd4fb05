// Package ecosystem is what the gate knows of languages and their tools: which
// projects a tree has and by which commands they are set up, built and tested, what
// files are to the tests, how the output of a test runner is read, and which
// registries are public.
//
// It describes and starts nothing but "go env": [Command] is a value, which the gate
// runs. Each ecosystem has a file that makes an [Ecosystem], and is a line of [languages.All];
// more files of one begin with its name. What only some ecosystems can do is an
// optional field of theirs, so that the gate never asks for a name.
package ecosystem
