package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"dev.magpie/config"
)

// failedFor is how long a secret that could not be had is not asked for again.
const failedFor = 30 * time.Second

// commandLimit is how long a command may take to print a secret.
const commandLimit = 10 * time.Second

// SecretsOptions says where secrets are looked for; what is nil is the machine's own.
type SecretsOptions struct {
	Getenv   func(name string) string
	ReadFile func(path string) ([]byte, error)
	Run      func(ctx context.Context, command string) ([]byte, error) // what sh -c prints
	Now      func() time.Time
}

// Secrets fetches keys from where the config says they are, and keeps them. It is safe for
// concurrent use; a key is fetched once however many ask for it.
type Secrets struct {
	o  SecretsOptions
	mu sync.Mutex
	by map[AccountID]*secret
}

// secret is one account's key as last fetched.
type secret struct {
	from    SecretSource
	value   config.Secret
	err     error
	tried   time.Time
	pending chan struct{} // closed when the fetch under way ends, nil when none is
}

// NewSecrets makes a store with nothing fetched.
func NewSecrets(o SecretsOptions) *Secrets {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	if o.Run == nil {
		o.Run = runShell
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Secrets{o: o, by: map[AccountID]*secret{}}
}

// Value returns the account's key: empty without an error for one that has none to fetch.
// The first asker fetches and others wait for it; a fetch whose asker leaves is taken over
// by the next. An error says what is missing and where, never a secret.
func (s *Secrets) Value(ctx context.Context, a *Account) (config.Secret, error) {
	if a.Unready != "" {
		return "", errors.New(a.Unready)
	}
	if !a.HasSecret() {
		return "", nil
	}
	if a.Secret.Value != "" {
		return a.Secret.Value, nil
	}
	for {
		k, wait := s.claim(a)
		if wait == nil {
			return k.value, k.err
		}
		if k != nil {
			return s.fetch(ctx, a, k)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// claim returns what is known (no channel), or the entry that the caller is to fetch, or
// the channel alone of a fetch under way.
func (s *Secrets) claim(a *Account) (*secret, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.by[a.ID]
	if k == nil || k.from != a.Secret {
		k = &secret{from: a.Secret}
		s.by[a.ID] = k
	}
	switch {
	case k.pending != nil:
		return nil, k.pending
	case k.value != "" || k.err != nil && s.o.Now().Sub(k.tried) < failedFor:
		done := *k
		return &done, nil
	}
	k.pending = make(chan struct{})
	return k, k.pending
}

// fetch asks the source without holding the lock, and tells those who wait.
func (s *Secrets) fetch(ctx context.Context, a *Account, k *secret) (config.Secret, error) {
	value, err := s.ask(ctx, a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := ctx.Err(); left != nil && err != nil {
		err = left // says nothing of the source: the next asker tries
	} else {
		k.value, k.err, k.tried = value, err, s.o.Now()
	}
	close(k.pending)
	k.pending = nil
	return value, err
}

func (s *Secrets) ask(ctx context.Context, a *Account) (config.Secret, error) {
	src := a.Secret
	switch {
	case src.Env != "":
		return told(s.o.Getenv(src.Env), "environment variable "+src.Env+" is not set", a)
	case src.File != "":
		data, err := s.o.ReadFile(s.expand(src.File))
		if err != nil {
			return "", fmt.Errorf("file %s cannot be read: %s (%s)", src.File, reason(err), whose(a))
		}
		return told(firstLine(data), "file "+src.File+" is empty", a)
	}
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	out, err := s.o.Run(ctx, src.Command)
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return "", fmt.Errorf("the command did not end within %s (%s)", commandLimit, whose(a))
	case err != nil:
		return "", fmt.Errorf("the command failed: %w (%s)", err, whose(a))
	}
	return told(firstLine(out), "the command printed nothing", a)
}

// told turns what a source said into a key, or into what is missing.
func told(value, missing string, a *Account) (config.Secret, error) {
	if value = strings.TrimSpace(value); value == "" {
		return "", fmt.Errorf("%s (%s)", missing, whose(a))
	}
	return config.Secret(value), nil
}

// reason says why a file cannot be read without its path, which is said already.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func whose(a *Account) string { return "providers." + a.Provider + " key " + a.Name }

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimLeft(string(out), "\r\n"), "\n")
	return strings.TrimSpace(line)
}

// expand puts the home folder where a path begins with ~/.
func (s *Secrets) expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	if home := s.o.Getenv("HOME"); home != "" {
		return strings.TrimRight(home, "/") + "/" + rest
	}
	return path
}

// Unready returns why the account cannot serve as far as is known without asking anything:
// from the config, or from the last fetch. "" means that nothing is known against it.
func (s *Secrets) Unready(a *Account) string {
	if a.Unready != "" || !a.HasSecret() || a.Secret.Value != "" {
		return a.Unready
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.by[a.ID]; k != nil && k.from == a.Secret && k.err != nil {
		return k.err.Error()
	}
	return ""
}

// Forget drops a fetched key, so that the next asker fetches it again: for one that a vendor
// did not take. A value in the config and an environment variable stay what they are.
func (s *Secrets) Forget(id AccountID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.by[id]; k != nil && k.pending == nil && k.from.Env == "" {
		delete(s.by, id)
	}
}

// Fingerprint returns a short hash that tells secrets apart without showing any; "" for none.
func Fingerprint(secret config.Secret) string {
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(secret.Reveal()))
	return hex.EncodeToString(sum[:6])
}
