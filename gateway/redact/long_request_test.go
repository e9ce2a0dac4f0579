package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What an agent sends may be a mebibyte of anything. Looked at anew at each of its places, any of
// these would take many minutes.
func TestALongRequestTakesNoLongerThanItsLength(t *testing.T) {
	for _, part := range []string{
		"sk-a/", "sk-", "key=", "token=", "password=", `key="`, `password='`, "api_key: a", "eyJhbGciOiJIUzI1NiJ9/", "-----BEGIN PRIVATE KEY-----a...", "-----BEGIN PRIVATE KEY-----", "://a:b", "://", "bearer ",
		"a@b.", "@", "4111-1111 ", "1 ", "1.", "+1 (2 ", "(", "GB82 WEST ", "AA11", "falco", `\`, "M", "MAGPIE_SECRET_abcdefghijkl", "MAGPIE_", "é", "password: a1",
	} {
		long(t, part, strings.Repeat(part, (1<<20)/len(part)))
	}
	var many strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&many, "user%06d@mail.example.org, password: secret%06d\n", i, i)
	}
	long(t, "many addresses and passwords", many.String())
	many.Reset()
	for i := range 60_000 { // as a log has tokens
		fmt.Fprintf(&many, "password=swordfish%d ", i)
	}
	long(t, "many that begin in the same way", many.String())
}

func long(t *testing.T, name, text string) {
	t.Helper()
	body, began := said(t, text), time.Now()
	out, v := all("Falcon").Mask(body)
	back := v.Restore(out)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("%q took %s", name, took)
	}
	if string(back) != string(body) {
		t.Errorf("%q does not come back", name)
	}
}
