//go:build !unix

package term

import (
	"os"
	"time"
)

// mayAsk reports that a terminal here is not asked.
func mayAsk(_, _ *os.File) bool { return false }

func ask(_, _ *os.File, _ time.Duration) Answer { return Answer{} }
