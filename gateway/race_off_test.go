//go:build !race

package gateway_test

// manyRequests is how many agents ask in the test of faults at scale.
const manyRequests = 10_000

// raced says whether the race detector watches.
const raced = false
