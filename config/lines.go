package config

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shown is how many characters of a line are kept beside a problem.
const shown = 300

// lines returns the file's lines as they may be shown: each character of the pieces named by hidden, and of
// whatever else looks like a secret, is a star, so that columns stay what they are.
func lines(data []byte, hidden []span) []string {
	data = bytes.Clone(data)
	for _, s := range hidden {
		star(data[s.from:min(s.to, len(data))])
	}
	all := strings.Split(string(data), "\n")
	for i, l := range all {
		all[i] = clean(strings.TrimSuffix(l, "\r"))
	}
	return all
}

// star turns every character of b but the signs of the file's own grammar into a star.
func star(b []byte) {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if !strings.ContainsRune("\"'[]{},= \t\r\n", r) {
			b[i] = '*'
			for j := i + 1; j < i+size; j++ {
				b[j] = gone
			}
		}
		i += size
	}
}

// gone marks a byte that is to be dropped. It is in no valid UTF-8.
const gone = 0xff

// secretLook matches what is a secret wherever it stands: keys by their makers' prefixes, a password in a
// URL, a key in its query, a bearer token.
var secretLook = regexp.MustCompile(
	`\b(?:sk|pk|rk|gsk|xai|ghp|gho|ghu|ghs|github_pat|glpat|hf|pplx|nvapi|r8)[-_][-_A-Za-z0-9.]{8,}` +
		`|\b(?:AIza|ya29|eyJ)[-_A-Za-z0-9.]{12,}` +
		`|//[^@\s"']+@` +
		`|[?&](?:key|api_key|token|access_token)=[^&\s"']+` +
		`|(?i:bearer)\s+[^\s"']{8,}`)

// clean returns a line fit to be shown: no secret, no control character, not endless.
func clean(line string) string {
	line = strings.ReplaceAll(line, string([]byte{gone}), "")
	line = strings.ToValidUTF8(line, "\ufffd")
	line = secretLook.ReplaceAllStringFunc(line, func(s string) string {
		return strings.Repeat("*", utf8.RuneCountInString(s))
	})
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return '\ufffd'
		}
		return r
	}, line)
	if r := []rune(line); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return line
}

// valueKey matches a key and its equals sign up to where its value begins.
var valueKey = regexp.MustCompile(`(?:^|[\s{,])(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*=[ \t]*`)

// guess returns the pieces of a file that could not be read which may hold a secret: the value of every key
// that is not known to be harmless, and longer lines that have no key.
func guess(data []byte, harmless map[string]bool) []span {
	var hidden []span
	offset := 0
	for line := range bytes.SplitAfterSeq(data, []byte("\n")) {
		hidden = append(hidden, guessLine(line, offset, harmless)...)
		offset += len(line)
	}
	return hidden
}

func guessLine(line []byte, offset int, harmless map[string]bool) []span {
	if t := bytes.TrimSpace(line); len(t) == 0 || t[0] == '#' || (t[0] == '[' && bytes.IndexByte(t, '=') < 0 && bytes.IndexByte(t, '"') < 0) {
		return nil
	}
	found := valueKey.FindAllSubmatchIndex(line, -1)
	if len(found) == 0 && len(bytes.TrimSpace(line)) < 12 {
		return nil
	}
	if len(found) == 0 {
		return []span{{offset, offset + len(line)}}
	}
	var hidden []span
	for i, m := range found {
		key := ""
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				key = string(line[m[g]:m[g+1]])
			}
		}
		end := len(line)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		if !harmless[key] {
			hidden = append(hidden, span{offset + m[1], offset + end})
		}
	}
	return hidden
}
