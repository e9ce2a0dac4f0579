package config

import "testing"

func TestWhatCanBeReadOfAWrongConfigIsReturned(t *testing.T) {
	c, problems := Partial("config.toml", []byte("ruting = 1\n[providers.a]\npreset = \"openai\"\n"))
	if c == nil || len(c.Providers) != 1 || c.Providers[0].Preset != "openai" || len(problems) != 1 {
		t.Errorf("%+v %v", c, problems)
	}
	if c, problems := Partial("config.toml", []byte("[providers.a\n")); c != nil || len(problems) != 1 {
		t.Errorf("%+v %v", c, problems)
	}
	if c, problems := Partial("config.toml", nil); c == nil || len(problems) != 0 {
		t.Errorf("%+v %v", c, problems)
	}
}
