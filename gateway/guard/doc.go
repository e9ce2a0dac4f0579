// Package guard says who is calling, from what the connection and the headers tell, before any body is read.
//
//	request ──► Host fit to read? ──► from this machine? ──► Host allowed? ──► which page? ──► Caller
//	                │ 400                 │ 403                  │ 403             │ 403, 401
//	                └─────────────────────┴── Refusal ───────────┴─────────────────┘
//
// The path plays no part here, so the guard and the router cannot see different ones. Nor do headers that
// name another host (X-Forwarded-Host, X-Original-URL): those of proxies only ever take the right to be
// local away.
//
// A web page asks with the browser's reach into this machine, so a page is let in only from this machine,
// from the gateway's own address, or when the person listed it; a listed one needs a gateway key besides,
// and this version has none.
package guard
