//go:build race

package failure_test

// slowdown is what the race detector costs.
const slowdown = 10
