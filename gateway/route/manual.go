package route

import "dev.magpie/gateway/trace"

// sayPicked notes on the member that a manual group uses that it was picked, where nothing
// else puts it where it is.
func sayPicked(all []seat) {
	if len(all) == 1 && all[0].because.Code == "" {
		all[0].because.Code = trace.WhyPicked
	}
}
