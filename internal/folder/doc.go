// Package folder copies, brings back and removes folders that commands may have filled.
//
// Who filled them is hostile: permissions may be in the way, symbolic links lead outside,
// folders lie a million deep, a file has a thousand names or a terabyte of nothing. No link
// is followed, what is too much is refused, and a [Replica] knows by inode and change time
// what no one has touched.
package folder
