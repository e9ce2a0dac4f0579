// Package provider holds what exists: vendors' entries, their keys and accounts,
// models and groups, as immutable values made from the config and the catalogue.
//
//	config.Config ─┐
//	               ├─ Build ─► Catalog ─ Resolve(name) ─► Target
//	catalog.json ──┘              │
//	models.json ── Lookup         └─ Account ─ Secrets.Value ─► the key
//
// Nothing here is changed after it was built: a reload builds another Catalog, and
// requests under way finish on the one that they began with. Secrets alone keeps
// something between calls: what a file or a command answered.
package provider
