// Package redact hides keys and tokens in texts that people read (errors, the log, the
// trace, the screen), and masks them in what vendors read. README.md says what counts.
//
// Mask knows what secrets look like: vendors' prefixes, JWTs, Bearer, values of fields
// that are called key or token, what stands before the @ of a URL, and long random runs
// near such a word. A Masker also knows values: of those it hides every part of twelve
// letters and more, wherever and however they stand.
//
// What is hidden leaves its first four letters, enough to tell which key it is, and "…".
// Text in which nothing is suspicious is returned as it is, without a copy.
//
//	agent ──► Cloak.Mask ──► placeholders ──► vendor
//	agent ◄── Vault, Stream ◄── placeholders ◄┘
//
// A Cloak masks a request and gives a Vault, which knows what the placeholders of that request
// stand for and turns them back in its reply. It hides only what is surely meant: what a Mask
// hides too much nobody misses, but a model has to work with what a Cloak leaves.
package redact
