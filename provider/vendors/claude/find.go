package claude

import (
	"os"
	"path/filepath"
)

// Find looks for the program in the folders of a PATH, and where its installers put it below a
// person's home. It runs nothing. "" is that there is none.
func Find(path, home string) string {
	dirs := filepath.SplitList(path)
	if home != "" {
		dirs = append(dirs, filepath.Join(home, ".local", "bin"), filepath.Join(home, ".claude", "local"))
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range []string{"claude", "claude.exe"} {
			at := filepath.Join(dir, name)
			if st, err := os.Stat(at); err == nil && st.Mode().IsRegular() && (st.Mode()&0o111 != 0 || filepath.Ext(name) == ".exe") {
				return at
			}
		}
	}
	return ""
}
