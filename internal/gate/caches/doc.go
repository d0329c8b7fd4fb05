// Package caches lays out the caches of the go command, none of which code of a change ever
// writes for others to read:
//
//   - The module cache is one for each project. It is filled in the setup phase
//     by "go mod download", which runs no code of the change and checks what it
//     fetches, and is read-only afterwards.
//   - The build cache of a project is written by compiling its base, which runs
//     no code either. It begins as a copy of a seed: the standard library, as vet knows it,
//     and for the race detector. That is all that projects share: it is compiled where no
//     file of any is.
//   - Each side has a cache that begins with what is in that one, and is written by
//     compiling the side alone, which runs no code.
//   - Each command that may run code has a cache of its own, which is brought back to
//     what its side's has before the next: nothing that one command leaves decides what
//     a later one does. Agents have one each.
//
// What a cache begins with is not copied: links to files that commands can read and
// not write.
//
// A module cache and a build cache are as "go help cache" says.
package caches
