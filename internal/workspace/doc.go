// Package workspace brings commits out of the user's repository and lays them
// out as folders in which untrusted commands may run.
//
// There are two things. A [Mirror] is a bare repository of the harness's own that holds
// what a run needs, without remotes or credentials. A [Tree] is a worktree made from the
// mirror, or a copy of one. Three packages lie below: repository is the user's repository,
// which commits come from and which is only ever looked at; git runs the git command for
// all of them; objects reads what is stored without it.
//
// # A mirror may lack what no one asked for yet
//
// Of a partial clone, and of a large repository on its first fetch, a mirror has all
// commits and folders but not the contents of all files; the file ycbot-partial says so.
// Methods that need some bring them. [Mirror.Whole] brings all; after it the mirror is as
// any other. A process that is killed meanwhile leaves a mirror that is still marked, and the
// next to fetch goes on. To git nothing marks it: no command in a tree fetches by itself.
//
// # Trees are hostile
//
// After a command ran in a tree, git is not run in it again. What changed is
// found by comparing bytes with the commit's objects, and every path is walked
// without following symbolic links.
//
// # Who may do what at once
//
// Several processes may share one mirror: what alters it holds a lock on the
// file next to it. [Mirror.Whole] only adds objects and has a lock of its own. Every
// open Tree holds a shared lock on the ".lock" file of the folder it lies in; [Sweep]
// removes only folders whose lock is free.
//
// The layout below the home folder is
//
//	projects/<slug>/mirror.git
//	projects/<slug>/worktrees/<run>/<name>
package workspace
