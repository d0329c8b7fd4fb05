// Package pairs is a study of the gate on changes that people really made:
// pairs of adjacent releases of well-known Go modules, in both directions.
//
//	go test ./test/pairs -pairs -timeout 30m            compare with docs/pairs.md
//	go test ./test/pairs -pairs -timeout 30m -update    write it anew
//
// With -run 'TestPairs/(mux|cobra)' only those pairs are run, compared and written.
//
// It is made of tests alone. Without -pairs, only what needs no module proxy
// runs: the table's form, and that each surprising verdict in it is explained.
package pairs
