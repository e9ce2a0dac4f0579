// Package trace holds what the gateway tells about itself: values with a stable
// JSON form, and the bus that hands them on. It imports nothing of ours.
//
//	gateway ──Publish──► Bus ─┬─ View   everything, at one sequence number
//	                          ├─ Feed   everything after it, for the screen and for SSE
//	                          └─ RoutesAfter, Route, BySession   for polling
//
// # Order
//
// Each publish replaces a value in place, gives it the next sequence number and
// moves it behind all others. A feed hands on what stands behind its cursor: the
// newest value of each, oldest change first. So a feed sees the changes of one value
// in their order, and those of different values in the order of their last change.
// A watcher's view and its feed meet at one number: what is not in the view comes
// with the feed, nothing comes in neither.
//
// # Blocking
//
// Publishing never waits for a reader. It takes one lock for a copy of one value;
// readers hold that lock for copies of at most 64 routes at a time. Nothing is
// allocated per subscriber, and nothing at all once the memory is full. A feed that
// is not waiting costs a publish nothing.
//
// # Backpressure
//
// There is none: a reader that is too slow is its own fault and pays alone. It
// misses values that were replaced before it looked (Batch.Merged), and it may miss
// routes that were done and have left the memory (Batch.Lost, Batch.Behind), after
// which its batch carries the whole view again. It never misses the last state of a
// route that is still in memory.
//
// # Memory
//
// 500 routes and 1,000 log lines are kept. Routes that are done leave first, in the
// order in which they ended; a live one never leaves, so there can be more than 500
// only while more are under way.
package trace
