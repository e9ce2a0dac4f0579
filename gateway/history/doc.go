// Package history keeps every request on disk, in SQLite, behind the requests: nothing
// that an agent waits for waits for it.
//
//	Add ─► queue (4,096, then dropped and counted) ─► one writer ─► history.db
//	                                  256 rows or 250 ms a transaction
//
// Opening happens behind too: what is added before is written once the file is open.
// A file that can't be opened or isn't ours is told (Stat) and left as it is. One that is moved
// away or deleted while it is open is noticed with the next batch, which goes into a new file.
//
// One connection serves writer and readers, with a small page cache: a batch takes
// milliseconds, and a listing is short.
package history
