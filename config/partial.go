package config

import "bytes"

// Partial is Parse for checks that live elsewhere: of a config that is wrong it also returns what could be
// read, so that all complaints can be told at once. It is nil when the syntax is wrong.
func Partial(name string, data []byte) (*Config, []Problem) {
	c := Default()
	c.Path = name
	problems := c.take(data)
	if _, wrong := read(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); wrong != nil || len(data) > maxFile {
		return nil, problems
	}
	return c, problems
}
