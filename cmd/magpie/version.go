package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the one that is being made.
const version = "0.1.0"

func (p *process) versionCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(0, 0, ""),
		RunE:  func(*cobra.Command, []string) error { return p.version(o.json) },
	})
}

func (p *process) version(asJSON bool) error {
	revision := commit()
	if asJSON {
		return p.json(map[string]string{"name": "magpie", "version": version, "commit": revision, "go": runtime.Version()}, nil)
	}
	if revision == "" {
		return p.printf("magpie %s (%s)\n", version, runtime.Version())
	}
	return p.printf("magpie %s (%.12s, %s)\n", version, revision, runtime.Version())
}

// commit is the revision that the program was built from, "" when nobody noted it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
