//go:build unix

package gateway_test

import (
	"os"
	"strings"
	"testing"

	"dev.magpie/gateway"
	"dev.magpie/gateway/bridge"
	"dev.magpie/gateway/bridge/fakeclaude"
)

// A program that answers for an account reads placeholders, in its prompt, in what was said and in what
// tools tell; the agent does not, and its next turn still finds the run that waits for it.
func TestAProgramReadsPlaceholders(t *testing.T) {
	dir := t.TempDir()
	path, err := fakeclaude.Install(dir, fakeclaude.Fine)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "redact = [\"secrets\"]\n[providers.claude]\naccounts = [{ name = \"me\" }]\n", nil, func(d *gateway.Deps) {
		d.Claude = bridge.Options{Program: path, TempDir: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}
	})
	const head = `{"model":"claude/claude-sonnet-5","max_tokens":99,"stream":true,"system":"the key is ` + theSecret + `","tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"call look"}`
	got := r.ask("/v1/messages", head+`]}`)
	_, rest, _ := strings.Cut(got.body, `"id":"toolu_`)
	id, _, _ := strings.Cut(rest, `"`)
	if got.status != 200 || id == "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	got = r.ask("/v1/messages", head+`,{"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"toolu_`+id+`","name":"look","input":{"n":0}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_`+id+`","content":"it is `+theSecret+`"}]}]}`)
	if said := readBy(t, "messages", got.body, true); got.status != 200 || said != "results: it is "+theSecret {
		t.Errorf("%d, said %q in %s", got.status, said, got.body)
	}
	runs, err := fakeclaude.Starts(dir)
	if err != nil || len(runs) != 1 || strings.Contains(runs[0].System, theSecret) || !placeholder.MatchString(runs[0].System) {
		t.Errorf("%+v, %v", runs, err)
	}
	if m := r.last().Masked; m == nil || m.Secrets != 1 {
		t.Errorf("the route tells %+v", m)
	}
}
