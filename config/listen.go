package config

import (
	"errors"
	"net"
	"strconv"
	"strings"
)

// DefaultListen is where the gateway listens when nobody says otherwise.
const DefaultListen = "127.0.0.1:3425"

// Listen returns the address to listen on: the flag, else MAGPIE_ADDR (env), else the file's, else the default.
// A bare port or host is completed from the default; what can't be read is returned as it is, for the bind to refuse.
func Listen(flag, env string, c *Config) string {
	for _, s := range []string{flag, env} {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if a, err := Address(s); err == nil {
			return a
		}
		return s
	}
	if c != nil && c.Listen != "" {
		return c.Listen
	}
	return DefaultListen
}

// Address reads a listen address: host:port, or one of the two, the other being the default's.
func Address(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		defaultHost, defaultPort, _ := net.SplitHostPort(DefaultListen)
		if _, notPort := strconv.Atoi(s); notPort == nil {
			host, port = defaultHost, s
		} else {
			host, port = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), defaultPort
		}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", errors.New("the port must be a number from 0 to 65535")
	}
	if !hostOK(host) {
		return "", errors.New("the host must be a name or an IP address")
	}
	return net.JoinHostPort(host, port), nil
}

// hostOK says whether host is empty (every address), an IP address or a host's name.
func hostOK(host string) bool {
	if host == "" {
		return true
	}
	address, zone, zoned := strings.Cut(host, "%")
	if net.ParseIP(address) != nil {
		return !zoned || zone != ""
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		strange := func(r rune) bool { return r < 0x80 && !strings.ContainsRune(letters+digits+"-_", r) }
		if label == "" || strings.ContainsFunc(label, strange) {
			return false
		}
	}
	return len(host) <= 253
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)
