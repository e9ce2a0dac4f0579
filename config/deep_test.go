package config_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/config"
)

func TestAnOddFileIsJudgedAtOnce(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"tables in tables": {"x=" + strings.Repeat("{a=", 5000) + "1" + strings.Repeat("}", 5000), "nested too deep"},
		"lists in lists":   {"x=" + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := config.Parse("config.toml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.200v", err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestBracketsInWordsNestNothing(t *testing.T) {
	open := strings.Repeat("[{", 40)
	text := "# " + open + "\n[providers.x]\nchat = \"http://127.0.0.1:1/v1\"\nname = \"\\\"" + open + "\"\n" +
		"keys = [{ name = '" + open + "', value = \"\"\"\n" + open + "\"\"\" }, { name = 'b', value = '''" + open + "''' }]\n"
	if _, err := config.Parse("config.toml", []byte(text)); err != nil && strings.Contains(err.Error(), "nested") {
		t.Error(err)
	}
}
