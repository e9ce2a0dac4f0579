// Package balance reads the money that is left behind a key: where a vendor's reply tells it,
// by a small language of paths and sums, and what is known of vendors by their hosts.
//
//	$data.total_available / 500000          an amount of dollars
//	main: $balance; gift: $granted_balance  two amounts, each with its name
//	used / limit %                          a share
//	data.items.0.name                       what stands there, as it is
package balance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"dev.magpie/provider/vendors/loose"
)

// Expr is an expression that was read.
type Expr struct{ parts []part }

// part is one amount: `label: $sum %`.
type part struct {
	label   string
	sign    string // $ ¥ € £
	percent bool
	sum     node
}

// signs may stand before an amount.
const signs = "$¥€£"

// Compile reads an expression; its error says what is wrong with it.
func Compile(text string) (*Expr, error) {
	var e Expr
	for each := range strings.SplitSeq(text, ";") {
		if each = strings.TrimSpace(each); each == "" {
			continue
		}
		p, err := compilePart(each)
		if err != nil {
			return nil, fmt.Errorf("balance_path %q: %w", each, err)
		}
		e.parts = append(e.parts, p)
	}
	if len(e.parts) == 0 {
		return nil, errors.New("balance_path is empty: name the field with the amount, like $data.balance")
	}
	return &e, nil
}

func compilePart(text string) (part, error) {
	var p part
	if label, rest, found := strings.Cut(text, ":"); found {
		p.label, text = strings.TrimSpace(label), strings.TrimSpace(rest)
	}
	for _, r := range signs {
		if rest, found := strings.CutPrefix(text, string(r)); found {
			p.sign, text = string(r), rest
			break
		}
	}
	if rest, found := strings.CutSuffix(strings.TrimSpace(text), "%"); found {
		p.percent, text = true, rest
	}
	r := reader{text: text}
	var err error
	p.sum, err = r.sum(0)
	if err == nil {
		if r.blanks(); r.at < len(r.text) {
			err = fmt.Errorf("unexpected %q", string(r.text[r.at]))
		}
	}
	return p, err
}

// Eval tells the amounts in a reply, for people.
func (e *Expr) Eval(body []byte) (string, error) {
	var reply any
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber() // one that is too large hides none of the others
	err := in.Decode(&reply)
	if err == nil {
		_, err = in.Token()
	}
	if !errors.Is(err, io.EOF) {
		return "", errors.New("the reply is not JSON")
	}
	var told []string
	for i := range e.parts {
		s, err := e.parts[i].eval(reply)
		if err != nil {
			return "", err
		}
		told = append(told, s)
	}
	return strings.Join(told, ", "), nil
}

func (p *part) eval(reply any) (string, error) {
	if path, ok := p.sum.(field); ok && !p.percent {
		v, err := path.find(reply)
		if err != nil {
			return "", err
		}
		if s, ok := v.(string); ok && !isNumber(s) {
			return p.named(p.sign + loose.Clip(s, 60)), nil
		}
	}
	n, err := p.sum.eval(reply)
	switch {
	case err != nil:
		return "", err
	case math.IsNaN(n), math.Abs(n) > mostMoney:
		return "", errors.New("the amount is no number")
	case p.percent:
		return p.named(strconv.FormatFloat(n*100, 'f', 1, 64) + "%"), nil
	case p.sign != "" && n < 0:
		return p.named(fmt.Sprintf("-%s%.2f", p.sign, -n)), nil
	case p.sign != "":
		return p.named(fmt.Sprintf("%s%.2f", p.sign, n)), nil
	}
	return p.named(strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)), nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil
}

func (p *part) named(s string) string {
	if p.label == "" {
		return s
	}
	return p.label + ": " + s
}
