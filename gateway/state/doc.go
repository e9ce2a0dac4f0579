// Package state is the one owner of what the gateway remembers: rests and failures in
// a row, readings of allowances, the person's pauses and pins, whose secret is missing,
// who made which reply, and who answered which conversation.
//
//	write ─► mutex ─► new facts ─► atomic pointer ─► Snapshot, Accounts (no lock)
//	                     │
//	                     └─► dirty ─► one writer goroutine ─► files
//
// Facts are never changed once they are published: a write copies the maps that it
// touches. Nothing here waits for a disk but Open, Close, and Kept when another process
// wrote who answered what.
//
// Every moment is an argument, except in Made and NoteMade.
package state
