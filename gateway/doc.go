// Package gateway serves agents: it reads a request, asks route for a plan, tries
// the candidates one by one while nothing of a reply is out, and tells the trace.
//
//	agent ─► guard ─► ask ─► plan ─► try ─► hold ─► agent
//	                          │       │       │
//	                          └───────┴───────┴──► trace, history, state
//
// The words, one meaning each:
//
//	ask         one request of an agent, read once
//	plan        whom to ask in which order, and who is left out, each with its reason
//	candidate   one key or account with one model
//	try         one attempt at one candidate
//	hold        the part of a try in which the reply is kept back, so that another may still answer
//	pool        the candidates that one routing orders
//	aside       a key made for another API than the best of its pool: tried after it
//	sunk        rate limited a while ago, so behind the others of its pool
//	held        at its cap, or used up and not to spend credits: not asked
//	rest        a candidate is put behind the others until a time
//	refusal     what an agent is told instead of a reply, in its own API's shape
//	passing     bytes of a vendor's reply are out: nobody else may speak any more
package gateway
