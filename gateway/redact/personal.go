package redact

import (
	"slices"
	"strings"
)

// personal notes what is surely about somebody: addresses of mail, phone numbers, cards,
// bank accounts and the numbers of some countries' papers. A number counts only where its
// own check, or the way it is written, says so.
func personal(s string, finds []find) []find {
	for i := 0; i < len(s); i++ {
		var p part
		var kind Kind
		switch b := s[i]; {
		case b == '@':
			p, kind = email(s, i), Email
		case b == '+' || b == '(':
			p, kind = part{i, phone(s, i)}, Phone
		case isDigit(b):
			p.from = i
			if p.to, kind = numberAt(s, i); p.to == 0 {
				i = digitsEnd(s, i) - 1
			}
		case b >= 'A' && b <= 'Z' && (i == 0 || !alnum(s[i-1])):
			p, kind = part{i, iban(s, i)}, IBAN
		}
		if p.to > 0 {
			finds = append(finds, find{p, kind})
			i = p.to - 1
		}
	}
	return finds
}

// numberAt is number for what is no piece of a longer one.
func numberAt(s string, i int) (end int, kind Kind) {
	if i > 0 && (wordly(s[i-1]) || s[i-1] == '.' || s[i-1] == '+') {
		return 0, 0
	}
	return number(s, i)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func digitsEnd(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// ends says whether no letter, and no digit behind a mark, goes on at i.
func ends(s string, i int) bool {
	if i >= len(s) {
		return true
	}
	if alnum(s[i]) || s[i] == '_' {
		return false
	}
	return s[i] != '.' && s[i] != '-' || i+1 >= len(s) || !alnum(s[i+1])
}

// files are the endings of files that are called like icon@2x.png.
var files = []string{"png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "tsx", "jsx", "mjs", "cjs", "css", "json", "html", "go", "service", "timer", "socket", "target", "local"}

// email finds the address around the @ at i, nothing where there is none.
func email(s string, at int) part {
	from := at
	for from > 0 && at-from < 64 && (alnum(s[from-1]) || strings.IndexByte("._%+-", s[from-1]) >= 0) {
		from--
	}
	for from < at && !alnum(s[from]) {
		from++
	}
	to := at + 1
	for to < len(s) && to-at < 255 && (alnum(s[to]) || s[to] == '-' || s[to] == '.') {
		to++
	}
	for to > at+1 && !alnum(s[to-1]) { // the sentence's
		to--
	}
	if name := s[from:at]; name == "" || strings.EqualFold(name, "git") || !host(s[at+1:to]) {
		return part{}
	}
	before := s[max(0, from-64):from]
	if strings.HasSuffix(before, "://") || strings.HasSuffix(before, ":") && strings.Contains(before, "://") {
		return part{} // a URL's userinfo
	}
	return part{from, to}
}

// host says whether s is a host that takes mail: names with dots between, the last of letters
// alone, and not the ending of a file.
func host(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	if dot < 1 || s[0] == '.' || strings.Contains(s, "..") {
		return false
	}
	top := s[dot+1:]
	if len(top) < 2 || strings.ContainsAny(top, "0123456789-") {
		return false
	}
	return !slices.ContainsFunc(files, func(f string) bool { return strings.EqualFold(top, f) })
}

// phone finds the end of a phone number that begins with + or (, 0 for none.
func phone(s string, i int) int {
	if i > 0 && strings.IndexByte(" \t\r\n:;,=(<\"'/>|*`", s[i-1]) < 0 {
		return 0
	}
	if s[i] == '(' {
		if i+5 > len(s) || s[i+4] != ')' || !area(s[i+1:i+4]) {
			return 0
		}
		return local(s, i+5)
	}
	j, n, marks := i+1, 0, 0
	if j >= len(s) || s[j] < '1' || s[j] > '9' {
		return 0
	}
	end := j
	for ; j < len(s); j++ {
		switch {
		case isDigit(s[j]):
			n++
			end = j + 1
			continue
		case strings.IndexByte(" -.()", s[j]) >= 0 && j-end < 2:
			marks++
			continue
		}
		break
	}
	diff := i > 0 && s[i-1] == '\n' || i == 0 && end < len(s) // a line that was added
	if n < 8 || n > 15 || !ends(s, end) || marks == 0 && (n < 10 || diff) {
		return 0
	}
	return end
}

// area says whether three digits may begin a North American number.
func area(s string) bool {
	return len(s) == 3 && s[0] >= '2' && s[0] <= '9' && isDigit(s[1]) && isDigit(s[2]) && (s[1] != '1' || s[2] != '1')
}

// local finds the end of the seven digits behind an area, 0 for none.
func local(s string, i int) int {
	if i < len(s) && (s[i] == ' ' || s[i] == '-') {
		i++
	}
	if i+8 > len(s) || !area(s[i:i+3]) || strings.IndexByte("-. ", s[i+3]) < 0 || digitsEnd(s, i+4) != i+8 || !ends(s, i+8) {
		return 0
	}
	return i + 8
}
