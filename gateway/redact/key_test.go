package redact_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dev.magpie/gateway/redact"
)

func TestTheKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "redact.key")
	var keys [16][]byte
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := redact.KeyAt(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != 32 || !bytes.Equal(key, keys[0]) {
			t.Fatalf("%x and %x", key, keys[0])
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

func TestAKeyThatOthersCanReadIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redact.key")
	if err := os.WriteFile(path, []byte(strings.Repeat("ab", 32)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	key, err := redact.KeyAt(path)
	info, _ := os.Stat(path)
	if err != nil || !bytes.Equal(key, bytes.Repeat([]byte{0xab}, 32)) || info.Mode().Perm() != 0o600 {
		t.Errorf("%x %v %v", key, err, info.Mode())
	}
}

func TestWhatIsNoKeyIsNotWrittenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redact.key")
	if err := os.WriteFile(path, []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := redact.KeyAt(path); err == nil || key != nil {
		t.Errorf("%x %v", key, err)
	}
	if data, _ := os.ReadFile(path); string(data) != "half a k" {
		t.Errorf("%q", data)
	}
}
