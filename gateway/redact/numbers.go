package redact

// number finds what the number at i is: a card, a phone number, or that of somebody's papers.
func number(s string, i int) (end int, kind Kind) {
	var groups [8]int
	var room [24]byte
	d := room[:0]
	j, last, g := i, i, 0
	var sep byte
	for j < len(s) && len(d) < 20 && g < len(groups) {
		if isDigit(s[j]) {
			d = append(d, s[j])
			groups[g]++
			j++
			last = j
			continue
		}
		if !parts(s[j], sep, len(d)) || j+1 >= len(s) || !isDigit(s[j+1]) {
			break
		}
		sep = s[j]
		g++
		j++
	}
	if (last < len(s) && (s[last] == 'X' || s[last] == 'x')) && len(d) == 17 && sep == 0 {
		if chinese(s[i:last+1]) && ends(s, last+1) {
			return last + 1, ID
		}
		return 0, 0
	}
	if g == len(groups) || !ends(s, last) {
		return 0, 0
	}
	shape := groups[:g+1]
	switch {
	case card(d, shape, sep):
		return last, Card
	case len(d) == 18 && sep == 0 && chinese(string(d)):
		return last, ID
	case same(shape, 3, 2, 4) && sep == '-' && social(d):
		return last, ID
	case same(shape, 3, 3, 3, 2) && cpf(d):
		return last, ID
	case same(shape, 3, 3, 4) && area(string(d[:3])) && d[3] >= '2':
		return last, Phone
	}
	return 0, 0
}

// parts says whether a mark may stand between the digits of a number, n of them before it, that were
// parted by sep. Brazil's have dots, and a dash before the last two.
func parts(mark, sep byte, n int) bool {
	switch {
	case mark != ' ' && mark != '-' && mark != '.':
		return false
	case sep == '.' && mark == '-':
		return n == 9
	}
	return sep == 0 || mark == sep
}

func same(groups []int, want ...int) bool {
	if len(groups) != len(want) {
		return false
	}
	for i, n := range want {
		if groups[i] != n {
			return false
		}
	}
	return true
}

// card says whether digits are a payment card's: by its beginning, its length, the way it
// is grouped, and Luhn's check.
func card(d []byte, groups []int, sep byte) bool {
	n := len(d)
	if n < 13 || n > 19 || sep == '.' {
		return false
	}
	two, four := int(d[0]-'0')*10+int(d[1]-'0'), 0
	for _, c := range d[:4] {
		four = four*10 + int(c-'0')
	}
	ok := false
	switch {
	case d[0] == '4':
		ok = n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		ok = n == 16
	case two == 34 || two == 37:
		ok = n == 15
	case two == 36 || two == 38 || four >= 3000 && four <= 3059:
		ok = n == 14
	case four == 6011 || two == 65 || two == 62 || four >= 6440 && four <= 6499 || four >= 3528 && four <= 3589:
		ok = n >= 16
	}
	if sep != 0 {
		ok = ok && (same(groups, 4, 4, 4, 4) || same(groups, 4, 6, 5) || same(groups, 4, 6, 4) || same(groups, 4, 4, 4, 4, 3))
	}
	return ok && luhn(d)
}

// luhn is the check of payment cards; a number of one digit alone is none.
func luhn(d []byte) bool {
	sum, other := 0, false
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
		other = other || d[i] != d[0]
	}
	return other && sum%10 == 0
}

// social says whether nine digits may be a US social security number.
func social(d []byte) bool {
	a := string(d[:3])
	return a != "000" && a != "666" && a[0] != '9' && string(d[3:5]) != "00" && string(d[5:]) != "0000"
}

// cpf checks a Brazilian number.
func cpf(d []byte) bool {
	check := func(n int) byte {
		sum := 0
		for i := range n {
			sum += int(d[i]-'0') * (n + 1 - i)
		}
		if r := sum * 10 % 11; r < 10 {
			return byte('0' + r)
		}
		return '0'
	}
	return d[9] == check(9) && d[10] == check(10)
}

// chinese checks a resident's number: a date in it, and its last sign.
func chinese(v string) bool {
	if y := v[6:10]; y < "1900" || y > "2099" || v[10:12] < "01" || v[10:12] > "12" || v[12:14] < "01" || v[12:14] > "31" {
		return false
	}
	sum, weight := 0, [17]int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2}
	for i, w := range weight {
		sum += int(v[i]-'0') * w
	}
	last := v[17]
	if last == 'x' {
		last = 'X'
	}
	return last == "10X98765432"[sum%11]
}

// ibans has the length of each country's bank accounts.
var ibans = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28,
	"CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18,
	"GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
	"LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24,
	"PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20,
}

// iban finds the end of the account number that begins at i, 0 for none.
func iban(s string, i int) int {
	if i+4 > len(s) {
		return 0
	}
	want := ibans[s[i:i+2]]
	if want == 0 || !isDigit(s[i+2]) || !isDigit(s[i+3]) {
		return 0
	}
	var room [34]byte
	v := room[:0]
	j := i
	for ; j < len(s) && len(v) < want; j++ {
		switch b := s[j]; {
		case isDigit(b) || b >= 'A' && b <= 'Z':
			v = append(v, b)
			continue
		case b == ' ' && len(v)%4 == 0:
			continue
		}
		return 0
	}
	if len(v) < want || !ends(s, j) {
		return 0
	}
	rest := 0
	for _, b := range append(v[4:len(v):len(v)], v[:4]...) {
		if isDigit(b) {
			rest = (rest*10 + int(b-'0')) % 97
		} else {
			rest = (rest*100 + int(b-'A') + 10) % 97
		}
	}
	if rest != 1 {
		return 0
	}
	return j
}
