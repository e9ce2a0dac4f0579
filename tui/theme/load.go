package theme

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"dev.magpie/config"
	"dev.magpie/themes"
)

// idOK is what a theme may be called: it is a file's name.
var idOK = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// maxFile bounds the bytes of a theme file.
const maxFile = 64 << 10

// Load reads a theme by its id: from the person's folder when a file of that name is there, else
// the shipped one. user may be nil. What is wrong with the file is a *config.Errors, all of it at once.
func Load(id string, user fs.FS) (*Theme, error) {
	if !idOK.MatchString(id) {
		return nil, unknown(id, user)
	}
	data, file, err := find(id, user)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknown(id, user)
	}
	if err != nil {
		return nil, fmt.Errorf("read theme %s: %w", id, err)
	}
	return parse(id, file, data)
}

// find reads a theme's file.
func find(id string, user fs.FS) (data []byte, file string, err error) {
	file = id + ".toml"
	if user != nil {
		data, err = fs.ReadFile(user, file)
		if !errors.Is(err, fs.ErrNotExist) {
			return data, path.Join("themes", file), err
		}
	}
	data, err = fs.ReadFile(themes.Files, file)
	return data, file, err
}

// unknown tells that there is no such theme, and what there is.
func unknown(id string, user fs.FS) error {
	ids := IDs(user)
	if hint := config.DidYouMean(id, ids); hint != "" {
		return fmt.Errorf("no theme is called %q: %s", id, hint)
	}
	return fmt.Errorf("no theme is called %q; there are %s", id, strings.Join(ids, ", "))
}

// IDs lists every theme there is: magpie's own two first, then the others by name.
func IDs(user fs.FS) []string {
	var ids []string
	for _, dir := range []fs.FS{themes.Files, user} {
		if dir == nil {
			continue
		}
		files, _ := fs.Glob(dir, "*.toml") // a folder that is not there has none
		for _, f := range files {
			if id := strings.TrimSuffix(f, ".toml"); idOK.MatchString(id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	first := []string{Dark.standard(), Light.standard()}
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(first, id) })
	return append(first, ids...)
}

// Next is the theme after one in the list of all, round and round.
func Next(id string, user fs.FS) string {
	ids := IDs(user)
	return ids[(slices.Index(ids, id)+1)%len(ids)]
}

// standardLooks are the looks that fill in what a theme of a variant leaves out.
func standardLooks(v Variant) (*[Count]Look, error) {
	id := v.standard()
	if id == "" {
		return &[Count]Look{}, nil
	}
	file := id + ".toml"
	data, err := fs.ReadFile(themes.Files, file)
	if err != nil {
		return nil, fmt.Errorf("read theme %s: %w", id, err)
	}
	t, err := parse(id, file, data)
	if err != nil {
		return nil, err
	}
	return &t.Looks, nil
}
