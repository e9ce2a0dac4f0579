package failure

// Matches reports whether a row by itself claims what was seen.
func Matches(r Rule, s Seen) bool { return r.When.match(read(s)) }
