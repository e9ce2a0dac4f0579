package theme

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muesli/termenv"

	"dev.magpie/config"
)

// topKeys are the keys of a theme file outside its tables, and the tables.
var topKeys = []string{"name", "variant", "pair", "paint_bg", "palette", "roles", "ansi", "ansi256"}

var hexOK = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// own is the word for the terminal's own colour.
const own = "default"

// parse reads and checks a theme file.
func parse(id, file string, data []byte) (*Theme, error) {
	s, err := read(file, data)
	if err != nil {
		return nil, err
	}
	t := &Theme{ID: id, Name: id}
	s.fields("", s.values, topKeys)
	s.head(t)
	p := painter{
		s:       s,
		palette: s.palette(),
		ansi:    s.codes("ansi", 15),
		ansi256: s.codes("ansi256", 255),
		chosen:  map[Role]string{},
	}
	looks := p.looks()
	if err := s.err(); err != nil {
		return nil, err
	}
	return t, p.fill(t, looks)
}

// head reads what stands above the tables.
func (s *source) head(t *Theme) {
	for _, k := range []string{"name", "pair"} {
		v, there := s.values[k]
		if !there {
			continue
		}
		text, ok := s.text(k, v)
		switch {
		case !ok:
		case k == "name":
			t.Name = text
		case text != "" && !idOK.MatchString(text):
			s.tell(s.texts[k], `"pair" is no theme's name: `+strconv.Quote(text), "")
		default:
			t.Pair = text
		}
	}
	if v, there := s.values["paint_bg"]; there {
		var ok bool
		if t.PaintBG, ok = v.(bool); !ok {
			s.tell(s.texts["paint_bg"], `"paint_bg" must be true or false`, "")
		}
	}
	s.variant(t)
}

func (s *source) variant(t *Theme) {
	v, there := s.values["variant"]
	if !there {
		s.tell(config.Pos{Line: 1, Col: 1}, `"variant" is missing`, `write variant = "dark", "light" or "any"`)
		return
	}
	text, ok := s.text("variant", v)
	if !ok {
		return
	}
	i := slices.Index(variants[:], text)
	if i < 0 {
		s.tell(s.texts["variant"], `"variant" must be "dark", "light" or "any", not `+strconv.Quote(text),
			config.DidYouMean(text, variants[:]))
		return
	}
	t.Variant = Variant(i)
}

// palette reads the colours by their names.
func (s *source) palette() map[string]string {
	colours := map[string]string{}
	table := s.table("palette")
	for _, k := range s.fields("palette", table, nil) {
		path := under("palette", k)
		hex, ok := s.text(path, table[k])
		_, isAttr := attrs[k]
		switch {
		case !ok:
			continue
		case k == own || isAttr || strings.ContainsAny(k, " \t"):
			s.tell(s.keys[path], strconv.Quote(k)+" cannot name a colour", "")
		case !hexOK.MatchString(hex):
			s.tell(s.texts[path], strconv.Quote(hex)+" is no colour", "write it like #5fd0a0")
		default:
			hex = strings.ToLower(hex)
		}
		colours[k] = hex // also a wrong one, so that its uses are not told as well
	}
	return colours
}

// codes reads a table of colour numbers by role.
func (s *source) codes(name string, most int) map[Role]string {
	codes := map[Role]string{}
	table := s.table(name)
	for _, k := range s.fields(name, table, roleNames()) {
		path := under(name, k)
		text, ok := s.text(path, table[k])
		if !ok {
			continue
		}
		role, _ := RoleNamed(k)
		n, err := strconv.Atoi(text)
		switch {
		case text == own:
			codes[role] = ""
		case err != nil || n < 0 || n > most:
			s.tell(s.texts[path], strconv.Quote(text)+" is no colour of a terminal",
				"write a number from 0 to "+strconv.Itoa(most)+`, or "default"`)
		default:
			codes[role] = strconv.Itoa(n)
		}
	}
	return codes
}

func roleNames() []string {
	names := make([]string, 0, Count)
	for _, r := range Roles() {
		names = append(names, r.String())
	}
	return names
}

// painter gives roles their looks.
type painter struct {
	s             *source
	palette       map[string]string
	ansi, ansi256 map[Role]string
	chosen        map[Role]string // the palette's name that a role took
}

// looks reads [roles]: a colour's name and attributes each.
func (p *painter) looks() map[Role]Look {
	looks := map[Role]Look{}
	table := p.s.table("roles")
	for _, k := range p.s.fields("roles", table, roleNames()) {
		path := under("roles", k)
		text, ok := p.s.text(path, table[k])
		if !ok {
			continue
		}
		role, _ := RoleNamed(k)
		looks[role] = p.look(role, path, text)
	}
	return looks
}

func (p *painter) look(role Role, path, text string) Look {
	var l Look
	words := strings.Fields(text)
	if len(words) == 0 {
		p.s.tell(p.s.texts[path], strconv.Quote(path)+" names no colour", `write a name of [palette], or "default"`)
		return l
	}
	if hex, ok := p.palette[words[0]]; ok {
		l.Hex, p.chosen[role] = hex, words[0]
	} else if words[0] != own {
		known := append(slices.Sorted(maps.Keys(p.palette)), own)
		p.s.tell(p.s.texts[path], "[palette] has no "+strconv.Quote(words[0]), config.DidYouMean(words[0], known))
	}
	for _, w := range words[1:] {
		a, ok := attrs[w]
		if !ok {
			p.s.tell(p.s.texts[path], strconv.Quote(w)+" is no attribute",
				config.DidYouMean(w, slices.Sorted(maps.Keys(attrs))))
		}
		l.Attr |= a
	}
	return l
}

// fill completes the theme: codes for fewer colours, and the roles that the file leaves out.
func (p *painter) fill(t *Theme, looks map[Role]Look) error {
	std, err := p.standard(t)
	if err != nil {
		return err
	}
	for _, role := range Roles() {
		l, ok := looks[role]
		if !ok {
			t.Looks[role] = std[role]
			p.overrule(role, &t.Looks[role])
			continue
		}
		if l.Hex != "" {
			l.ANSI256 = converted(l.Hex, termenv.ANSI256)
			l.ANSI = p.nearest(role, l, std)
		}
		p.overrule(role, &l)
		t.Looks[role] = l
	}
	t.Looks[TitleFocus].Attr |= AttrBold // never by colour alone
	return nil
}

// standard are the looks to fall back on. A file of the person's with the name of a standard theme
// falls back on the shipped one; the shipped one leaves nothing out.
func (p *painter) standard(t *Theme) (*[Count]Look, error) {
	if p.s.file == t.ID+".toml" && t.ID == t.Variant.standard() {
		return &[Count]Look{}, nil
	}
	return standardLooks(t.Variant)
}

// overrule sets the codes that the file names for the role.
func (p *painter) overrule(role Role, l *Look) {
	if c, ok := p.ansi[role]; ok {
		l.ANSI = c
	}
	if c, ok := p.ansi256[role]; ok {
		l.ANSI256 = c
	}
}

// nearest finds one of sixteen colours for a role that [ansi] leaves out: that of another role of the
// same colour, else what the standard theme gives the role, else the closest by numbers, which is the
// worst since several colours fall on one.
func (p *painter) nearest(role Role, l Look, std *[Count]Look) string {
	for _, other := range Roles() {
		if c, ok := p.ansi[other]; ok && p.chosen[other] == p.chosen[role] {
			return c
		}
	}
	if std[role] != (Look{}) {
		return std[role].ANSI
	}
	return converted(l.Hex, termenv.ANSI)
}

// converted is a colour's number at a lower depth.
func converted(hex string, depth termenv.Profile) string {
	switch c := depth.Convert(termenv.RGBColor(hex)).(type) {
	case termenv.ANSI256Color:
		return strconv.Itoa(int(c))
	case termenv.ANSIColor:
		return strconv.Itoa(int(c))
	}
	return ""
}
