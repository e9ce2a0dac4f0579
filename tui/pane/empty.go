package pane

import (
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// Welcome is how many lines a pane without accounts wants.
const Welcome = 6

// noAccounts says what to do when there is nobody to ask.
func noAccounts(c *canvas.Canvas, v *View) {
	where := "the file that magpie config path names"
	if p := v.State.Status.Config.Path; p != "" {
		where = p
	}
	if c.W() < 60 {
		say(c, []Row{
			{{Text: "Listening, but there is nobody to ask. Write a key into " + where + ":", Pen: theme.FG}},
			{{Text: "  [providers.anthropic]", Pen: theme.Accent}},
			{{Text: "  keys = [{ env = \"ANTHROPIC_API_KEY\" }]", Pen: theme.Accent}},
			{{Text: "magpie presets  lists the vendors", Pen: theme.Muted}},
		})
		return
	}
	say(c, []Row{
		{},
		{{Text: "The gateway is listening, but it has nobody to ask.", Pen: theme.FG}},
		{{Text: "Write a key into " + where + " as below;", Pen: theme.Muted}},
		{{Text: "magpie presets  lists the vendors.", Pen: theme.Muted}},
		{{Text: "  [providers.anthropic]", Pen: theme.Accent}},
		{{Text: "  keys = [{ env = \"ANTHROPIC_API_KEY\" }]", Pen: theme.Accent}},
	})
}

// noRequests says how an agent is pointed here.
func noRequests(c *canvas.Canvas, v *View) {
	agents := []struct{ name, url, key string }{
		{"claude", "ANTHROPIC_BASE_URL=http://" + v.Listen, "ANTHROPIC_AUTH_TOKEN=magpie-claude"},
		{"gemini", "GOOGLE_GEMINI_BASE_URL=http://" + v.Listen, "GEMINI_API_KEY=magpie-gemini"},
		{"others", "http://" + v.Listen + "/v1", "any key that begins with magpie"},
	}
	rows := []Row{{}, {{Text: "Point an agent here, then ask it something:", Pen: theme.FG}}, {}}
	for _, a := range agents {
		if c.W() < 60 {
			rows = append(rows, Row{{Text: a.name, Pen: theme.Muted}},
				Row{{Text: a.url, Pen: theme.Accent}}, Row{{Text: a.key, Pen: theme.Accent}})
			continue
		}
		export := "export "
		if a.name == "others" {
			export = ""
		}
		rows = append(rows,
			Row{{Text: "  " + a.name + "   ", Pen: theme.Muted}, {Text: export + a.url, Pen: theme.Accent}},
			Row{{Text: "           "}, {Text: export + a.key, Pen: theme.Accent}})
	}
	say(c, append(rows, Row{}, Row{{Text: "Nothing seen yet. This changes when the first request lands.", Pen: theme.Muted}}))
}

// Row is one line of several pens.
type Row = []canvas.Span

// say writes rows; one that is too long goes on in the next line, indented.
func say(c *canvas.Canvas, rows []Row) {
	y, x := 0, 3
	if c.W() < 60 {
		x = 1
	}
	for _, row := range rows {
		if y >= c.H() {
			return
		}
		at := x
		for _, s := range row {
			lines := wrap(c.Glyphs(), s.Text, c.W()-at-1)
			for i, line := range lines {
				if i > 0 {
					y++
				}
				c.Text(at, y, c.W()-at, line, s.Pen)
			}
			at += c.Width(s.Text)
		}
		y++
	}
}
