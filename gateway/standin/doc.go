// Package standin holds stand-in vendors and stand-in agents: real HTTP servers
// that speak the four APIs as strictly as the vendors do, with faults scripted per
// key, and scripted programs that ask them.
//
//	request ─► door ─► key ─► strictness ─► the key's script ─► answer ─► player ─► bytes
//	          (which   (who)  (refuses what  (the next step     (thinking, (pace, cut,
//	           API,            the vendor     that fits)         text,      silence,
//	           what)           refuses)                          calls)     error events)
//
// A Vendor is an http.Handler. Tests serve it over httptest, or inside a bubble of
// testing/synctest over the connections of PipeNet, which open no socket. The demo
// serves several of them on loopback and plays a day of agents against a gateway.
//
// Nothing here is random: ids, texts and pauses come from the seed and the number
// of the request.
package standin
