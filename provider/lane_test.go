package provider_test

import (
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/provider"
)

func TestHowManyRequestsAnAccountTakes(t *testing.T) {
	for _, c := range []struct {
		name, toml string
		want       provider.Lane
	}{
		{"no limit", `keys = [{ name = "x", value = "sk-abcdefgh-1" }]`, provider.Lane{}},
		{"a key has its provider's", "max_concurrency = 3\nmax_rpm = 60\nqueue_limit = 5\nqueue_wait = \"30s\"\n" + `keys = [{ name = "x", value = "sk-abcdefgh-1" }]`, provider.Lane{Busy: 3, RPM: 60, Queue: 5, Wait: 30 * time.Second}},
		{"an account its own", "max_concurrency = 3\n" + `accounts = [{ name = "x", max_concurrency = 1 }]`, provider.Lane{Busy: 1}},
		{"or its provider's", "max_concurrency = 3\n" + `accounts = [{ name = "x" }]`, provider.Lane{Busy: 3}},
		{"or none at all", "max_concurrency = 3\n" + `accounts = [{ name = "x", max_concurrency = 0 }]`, provider.Lane{}},
		{"a provider without a key", "max_concurrency = 2", provider.Lane{Busy: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := config.Parse("config.toml", []byte("[providers.a]\nchat = \"http://127.0.0.1:9/v1\"\n"+c.toml))
			if err != nil {
				t.Fatal(err)
			}
			cat, problems := provider.Build(cfg)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := cat.Providers[0].Accounts[0].Lane; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
