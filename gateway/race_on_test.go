//go:build race

package gateway_test

// manyRequests is how many agents ask in the test of faults at scale. The race detector
// makes each many times dearer; what it looks for shows in fewer.
const manyRequests = 2_000

// raced says whether the race detector watches.
const raced = true
