package redact

import (
	"strings"
	"testing"
	"time"
)

// What a vendor sends as its error may be a mebibyte of anything.
func TestALongTextTakesNoLongerThanItsLength(t *testing.T) {
	for _, part := range []string{
		"key.", "key-", "key=", "key:", "key: ", "key/a/", "hf_", "ask-", "sk-", "AKIA", "eyJ", "1//0", "rt.", "basic+", "basic%20", "bearer+", "bearer ", "basic ",
		"cookie: ", "cookie", "password=", `password="`, `password=\"`, `key='`, "x-api-key: ", "keys ", "://", "a://b", "a@", "://a:b", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
		"api_key=true,", "token null ", "a.", "a-", "key.aB1", "=", "\\", "key=\\", "%22", "key=%22", "é", "key é",
	} {
		text := strings.Repeat(part, (1<<20)/len(part))
		began := time.Now()
		out := Mask(text)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%q a mebibyte long took %s", part, took)
		}
		_ = out
	}
}
