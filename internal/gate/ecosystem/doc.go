// Package ecosystem is what languages and their tools have in common to the gate: which
// projects a tree has and by which commands they are set up, built and tested, what files
// are to the tests, how commands report results, and which registries are public.
//
// An [Ecosystem] is one language with its tools, as a value. Each is made by the function New of a
// package below this one, by whose folder it is found; the list of them is in package
// languages. What only some ecosystems can do is an optional field of theirs (capabilities.go), so
// that the gate never asks for a name.
//
// It describes and starts nothing but "go env": [Command] is a value, which the gate runs. Most of
// what is exported here is for the packages of languages: how they read a tree ([Survey]), make
// commands that report each test ([Command.Reporting], [Results]), plant tests that must fail
// ([Planter]), and say what files are to tests ([ClassTable]).
package ecosystem
