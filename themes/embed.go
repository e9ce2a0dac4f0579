// Package themes holds the theme files that ship with magpie. README.md tells how
// to write another.
package themes

import "embed"

// Files are the shipped themes, one name.toml each.
//
//go:embed *.toml
var Files embed.FS
