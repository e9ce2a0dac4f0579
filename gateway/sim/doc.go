// Package sim plays workloads in virtual time against the planner that serves requests, and
// compares its orders with each other and with a bound that none can pass.
//
//	workload ─► requests ─┐
//	                      ├─► run: route.Decide ─► vendor ─► answered, or the next ─► Result
//	        orders ───────┘          ▲               │
//	                                 └── readings, rests, who answered ◄┘
//	        requests ─────────► bound: what knowing all of it could reach at most
//
// There is no clock in it: time is what the workload says.
package sim
