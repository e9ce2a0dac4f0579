package provider_test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

var update = flag.Bool("update", false, "write the tables that are made from data")

const (
	tableBegins = "<!-- presets: written by the test -->\n"
	tableEnds   = "<!-- end of presets -->\n"
)

// The page's table is the catalogue.
func TestReadmeHasThePresets(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), tableBegins)
	_, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatal("the marks of the table are gone")
	}
	want := before + tableBegins + presetTable() + tableEnds + after
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Error("README.md is not what catalog.json says: run go test ./provider -update")
	}
}

func presetTable() string {
	var b strings.Builder
	presets := provider.Presets()
	checked := ""
	for _, section := range []struct {
		title string
		kind  provider.PresetKind
	}{
		{"Vendors", provider.Vendor},
		{"Relays", provider.Relay},
		{"Servers on this machine", provider.Local},
		{"Subscriptions", provider.Subscription},
	} {
		b.WriteString("\n### " + section.title + "\n\n")
		b.WriteString("| preset | region | chat | responses | messages | gemini | key | quirks |\n|---|---|---|---|---|---|---|---|\n")
		for i := range presets {
			if presets[i].Kind != section.kind {
				continue
			}
			checked = max(checked, presets[i].Checked)
			for j, r := range presets[i].Regions {
				b.WriteString(presetRow(&presets[i], r, j == 0))
			}
		}
	}
	b.WriteString("\n? = common knowledge, not looked up. The newest row was checked on " + checked + "; each row has its own day and source in `catalog.json`.\n")
	b.WriteString("\nWhat bites:\n\n")
	for i := range presets {
		for _, n := range presets[i].Notes {
			b.WriteString("- `" + presets[i].ID + "`: " + n + "\n")
		}
	}
	return b.String() + "\n"
}

func presetRow(p *provider.Preset, r provider.Region, first bool) string {
	cells := []string{"", r.ID, "", "", "", "", "", ""}
	if r.Note != "" {
		cells[1] += " (" + r.Note + ")"
	}
	for i, api := range wire.Protocols {
		cells[2+i] = strings.TrimPrefix(r.Base(api), "https://")
		if tail, ok := p.Root[api]; ok {
			cells[2+i] = "*address*" + tail
		} else if p.NeedsBase && p.Root == nil {
			cells[2+i] = "*address*"
		}
		if api == wire.Responses && r.Responses != "" && r.Responses == r.Chat {
			cells[2+i] = "same"
		}
	}
	if first {
		cells[0] = "`" + p.ID + "` " + p.Name
		cells[6] = keyCell(p)
		cells[7] = quirks(p, r)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func keyCell(p *provider.Preset) string {
	key := strings.Join(p.Env, " ")
	if key != "" && !p.Sure("env") {
		key += " ?"
	}
	if p.KeyOptional {
		key = strings.TrimSpace(key + " (optional)")
	}
	return key
}

func quirks(p *provider.Preset, r provider.Region) string {
	var all []string
	d := p.Dialect
	add := func(yes bool, words string) {
		if yes {
			all = append(all, words)
		}
	}
	add(p.ReadOnly != "", "shown, never asked for a reply")
	for _, api := range wire.Protocols {
		add(p.Auth[api] != "", string(api)+" with "+string(p.Auth[api]))
	}
	add(d.TokenField != "", d.TokenField)
	add(d.DeveloperRole, "role developer")
	doubt := ""
	if !p.Sure("dialect") {
		doubt = " ?"
	}
	add(d.ReasoningField != "", "reasoning in "+d.ReasoningField+doubt)
	add(len(d.Unsupported) > 0, "refuses "+strings.Join(d.Unsupported, ", "))
	for _, rule := range p.APIs {
		var apis []string
		for _, api := range rule.APIs {
			apis = append(apis, string(api))
		}
		models := strconv.Quote(rule.Has)
		if rule.Has == "" {
			models = "the rest"
		}
		all = append(all, models+" on "+strings.Join(apis, ", "))
	}
	add((p.NoList || r.NoList) && p.ReadOnly == "", "no model list")
	add(len(p.Begins) > 0, "names begin with "+strings.Join(p.Begins, ", "))
	return strings.Join(all, "; ")
}
