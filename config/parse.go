package config

import (
	"errors"
	"fmt"
	"os"

	"github.com/BurntSushi/toml"
)

// Load reads and checks the config file at path. What is wrong with its content is an *Errors.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return Parse(path, data)
}

// Parse reads and checks a config; name is what problems call the file. The error is always an *Errors:
// a mistake in the syntax alone, all others together.
func Parse(name string, data []byte) (*Config, error) {
	c := Default()
	c.Path = name
	var raw map[string]any
	if _, err := toml.Decode(string(data), &raw); err != nil {
		p := Problem{File: name, Text: err.Error()}
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			p.Line, p.Col, p.Text = at.Position.Line, at.Position.Col, at.Message
		}
		return nil, &Errors{Problems: []Problem{p}}
	}
	return c, nil
}

// Default returns the config of an empty file.
func Default() *Config {
	return &Config{Listen: DefaultListen, Routing: "smart", Affinity: "auto", BodyLimit: 64 << 20, AutoGroups: true}
}
