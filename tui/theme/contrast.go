package theme

import (
	"fmt"
	"math"
	"strconv"
)

// How well text must stand out, as the accessibility guidelines count it.
const (
	contrastText  = 4.5
	contrastFaint = 3.0
)

// Faults tells what is hard to read in a theme: one sentence for each role. A role that wears the
// terminal's own colour is not judged.
func (t *Theme) Faults() []string {
	var faults []string
	for _, r := range Roles() {
		duty := r.Describe().Duty
		under, least := BG, contrastText
		switch duty {
		case DutyNone:
			continue
		case DutyFaint:
			least = contrastFaint
		case DutyChosen:
			under = SelectBG
		case DutyText:
		}
		text, ground := t.Looks[r].Hex, t.Looks[under].Hex
		if text == "" || ground == "" {
			continue
		}
		if c := Contrast(text, ground); c < least {
			faults = append(faults, fmt.Sprintf("%s on %s is %.2f to 1, less than %.1f", r, under, c, least))
		}
	}
	return faults
}

// Contrast is the ratio of two colours' brightness, 1 to 21. Both are "#rrggbb".
func Contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := 0.0
		if len(hex) == 7 {
			n, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
			v = float64(n) / 255
		}
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
