//go:build !race

package failure_test

const slowdown = 1
