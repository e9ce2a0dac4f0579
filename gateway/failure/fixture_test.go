package failure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// noon is when every fixture was seen.
var noon = time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)

// fixture is one reply out of testdata/failure: what was seen, and the verdict.
//
//	vendor, model, kind, phase, protocol, status, estimate, window, err: of Seen
//	header Name: value       a header of the reply
//	want ROW KIND SCOPE next|stay [passes]
//	until +38s retry-after   the named end and what it came from
//	agent 502, code x, link x, afford 10, words x: what else the verdict says
//	miss ROW                 a row that this reply nearly matches, and doesn't
//
// Then an empty line and the body. <now+180>, <rfc+180>, <http+180> stand for times.
type fixture struct {
	name   string
	seen   failure.Seen
	want   trace.Verdict
	words  string
	misses []string
}

var timeMark = regexp.MustCompile(`<(now|ms|rfc|http)([+-]\d+)>`)

func fillTimes(s string) string {
	return timeMark.ReplaceAllStringFunc(s, func(m string) string {
		p := timeMark.FindStringSubmatch(m)
		n, _ := strconv.Atoi(p[2])
		t := noon.Add(time.Duration(n) * time.Second)
		switch p[1] {
		case "rfc":
			return t.Format(time.RFC3339)
		case "http":
			return t.Format(http.TimeFormat)
		case "ms":
			return strconv.FormatInt(t.UnixMilli(), 10)
		}
		return strconv.FormatInt(t.Unix(), 10)
	})
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	files, err := filepath.Glob("../../testdata/failure/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var all []fixture
	for _, file := range files {
		base := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if base == "healthy" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(data).Files {
			x, err := readFixture(base+"/"+f.Name, fillTimes(string(f.Data)))
			if err != nil {
				t.Fatalf("%s/%s: %v", base, f.Name, err)
			}
			all = append(all, x)
		}
	}
	return all
}

func readFixture(name, data string) (fixture, error) {
	head, body, _ := strings.Cut(data, "\n\n")
	x := fixture{name: name, seen: failure.Seen{Phase: failure.PhaseReply, At: noon, Header: http.Header{}}}
	x.seen.Body = []byte(strings.TrimSuffix(body, "\n"))
	for line := range strings.Lines(head) {
		if err := x.line(strings.TrimSpace(line)); err != nil {
			return x, fmt.Errorf("%q: %w", line, err)
		}
	}
	if x.want.Row == "" {
		return x, errors.New("no want line")
	}
	if x.want.Status == 0 {
		x.want.Status = x.seen.Status
	}
	return x, nil
}

func (x *fixture) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	var err error
	switch word {
	case "vendor":
		x.seen.Vendor = rest
	case "model":
		x.seen.Model = rest
	case "kind":
		x.seen.Kind = rest
	case "protocol":
		x.seen.Protocol = rest
	case "phase":
		x.seen.Phase = failure.Phase(rest)
	case "status":
		x.seen.Status, err = strconv.Atoi(rest)
	case "estimate":
		x.seen.Estimate, err = strconv.Atoi(rest)
	case "window":
		x.seen.Window, err = strconv.Atoi(rest)
	case "err":
		x.seen.Err = transportError(rest)
	case "header":
		k, v, _ := strings.Cut(rest, ": ")
		x.seen.Header.Set(k, v)
	case "miss":
		x.misses = append(x.misses, rest)
	default:
		return x.expect(word, rest)
	}
	return err
}

func (x *fixture) expect(word, rest string) error {
	var err error
	switch word {
	case "want":
		p := strings.Fields(rest)
		if len(p) < 4 {
			return errors.New("want ROW KIND SCOPE next|stay [passes]")
		}
		x.want.Row, x.want.Kind, x.want.Scope = p[0], trace.Kind(p[1]), trace.Scope(strings.TrimPrefix(p[2], "none"))
		x.want.Next, x.want.Passes = p[3] == "next", len(p) > 4 && p[4] == "passes"
	case "until":
		d, by, _ := strings.Cut(rest, " ")
		var wait time.Duration
		wait, err = time.ParseDuration(strings.TrimPrefix(d, "+"))
		x.want.Until, x.want.By = noon.Add(wait), trace.RestBy(by)
	case "agent":
		x.want.Status, err = strconv.Atoi(rest)
	case "code":
		x.want.Code = rest
	case "link":
		x.want.Link = rest
	case "afford":
		x.want.Afford, err = strconv.Atoi(rest)
	case "page":
		x.want.Page = true
	case "words":
		x.words = rest
	default:
		return errors.New("unknown word")
	}
	return err
}

type slowError struct{ error }

func (slowError) Timeout() bool { return true }

func transportError(words string) error {
	switch words {
	case "canceled":
		return fmt.Errorf("Post \"https://api.example.com/v1\": %w", context.Canceled)
	case "deadline":
		return fmt.Errorf("Post \"https://api.example.com/v1\": %w", context.DeadlineExceeded)
	}
	if after, ok := strings.CutPrefix(words, "timeout "); ok {
		return slowError{errors.New(after)}
	}
	return errors.New(words)
}
