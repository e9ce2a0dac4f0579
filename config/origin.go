package config

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// CleanOrigin returns a web origin the way browsers write it: scheme://host[:port] in small letters, without
// the scheme's own port. Wildcards, "null" and whatever has more than that are refused.
func CleanOrigin(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case strings.Contains(s, "*"):
		return "", errors.New("a wildcard would let any page in")
	case err != nil || u.Scheme == "" || u.Host == "" || u.Hostname() == "":
		return "", errors.New("an origin is scheme://host or scheme://host:port")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(s, "#") || u.Path != "" && u.Path != "/":
		return "", errors.New("an origin has nothing after the host and port")
	}
	if !portOK(u.Port()) || strings.HasSuffix(u.Host, ":") {
		return "", errors.New("the port must be a number from 1 to 65535")
	}
	return u.Scheme + "://" + CleanHost(u.Host, u.Scheme), nil
}

// CleanHost returns host[:port] in small letters, without the port that scheme has anyway.
func CleanHost(host, scheme string) string {
	host = strings.ToLower(host)
	switch strings.ToLower(scheme) {
	case "http":
		return strings.TrimSuffix(host, ":80")
	case "https":
		return strings.TrimSuffix(host, ":443")
	default:
		return host
	}
}

func portOK(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 1 && n <= 65535
}

// CleanPublicURL returns the URL that other machines are shown: http when no scheme is given, without
// slashes at its end. The error says why s cannot be one.
func CleanPublicURL(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	if err := webURL(s, false); err != nil {
		return "", err
	}
	return strings.TrimRight(s, "/"), nil
}

// webURL says what keeps s from being an http or https URL. The words repeat nothing of s: it may hold a password.
func webURL(s string, query bool) error {
	u, err := url.Parse(s)
	switch {
	case err != nil && strings.Contains(s, "://"):
		return errors.New("it cannot be read as a URL")
	case err != nil || u.Scheme == "": // 127.0.0.1:4000/v1 is not read either
		return errors.New("it lacks http:// or https://")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("it must begin with http:// or https://")
	case u.Hostname() == "" || !hostOK(u.Hostname()):
		return errors.New("it has no host")
	case !portOK(u.Port()):
		return errors.New("the port must be a number from 1 to 65535")
	case u.User != nil:
		return errors.New("it must not hold a user or password")
	case u.Fragment != "" || strings.Contains(s, "#"):
		return errors.New("it must not have a # part")
	case !query && (u.RawQuery != "" || u.ForceQuery):
		return errors.New("it must not have a ? part")
	}
	return nil
}

// web reads a vendor's URL, or "" where empty is allowed.
func web(empty, query bool) reader[string] {
	return func(d *decoder, n *node) (string, bool) {
		if !d.is(n, isText) {
			return "", false
		}
		if n.text == "" && empty {
			return "", true
		}
		if err := webURL(n.text, query); err != nil {
			if strings.Contains(n.text, "@") {
				d.hide(n)
			}
			d.bad(n, "is not a usable URL: "+err.Error(), "")
			return "", false
		}
		return n.text, true
	}
}

// publicURL reads the URL that other machines are shown.
func publicURL(d *decoder, n *node) (string, bool) {
	if !d.is(n, isText) {
		return "", false
	}
	s, err := CleanPublicURL(n.text)
	if err != nil {
		d.bad(n, "is not a usable URL: "+err.Error(), "")
	}
	return s, err == nil
}

// origin reads one origin of a web page.
func origin(d *decoder, n *node) (string, bool) {
	if !d.is(n, isText) {
		return "", false
	}
	s, err := CleanOrigin(n.text)
	if err != nil {
		d.bad(n, "is not a web origin: "+err.Error(), `write "https://app.example"`)
	}
	return s, err == nil
}

// proxy reads the URL of a proxy, "direct" for none, or "" for the next wider setting.
func proxy(d *decoder, n *node) (string, bool) {
	if !d.is(n, isText) {
		return "", false
	}
	if n.text == "" || n.text == "direct" {
		return n.text, true
	}
	u, err := url.Parse(n.text)
	if err == nil {
		switch u.Scheme {
		case "http", "https", "socks5", "socks5h":
			if hostOK(u.Hostname()) && u.Hostname() != "" && portOK(u.Port()) && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == "" {
				return n.text, true
			}
		}
	}
	if strings.Contains(n.text, "@") {
		d.hide(n)
	}
	d.bad(n, "is not a proxy", `write "http://host:port", "https://…", "socks5://…", "socks5h://…" or "direct"`)
	return "", false
}

// headers reads extra request headers. Their values may be secrets.
func headers(d *decoder, n *node) (map[string]string, bool) {
	d.hide(n)
	if !d.is(n, isTable) {
		return nil, false
	}
	all := map[string]string{}
	seen := map[string]bool{}
	for _, k := range n.kids {
		v, ok := text(d, k)
		name := http.CanonicalHeaderKey(k.key)
		switch {
		case !ok:
		case !httpguts.ValidHeaderFieldName(k.key):
			d.wrong(k.keyAt, k.name+" is not a header's name", "")
		case !httpguts.ValidHeaderFieldValue(v):
			d.bad(k, "holds what a header cannot", "")
		case seen[name]:
			d.wrong(k.keyAt, "the header "+k.name+" stands twice", "")
		case name == "Host" || name == "Content-Length" || name == "Transfer-Encoding" || name == "Connection":
			d.wrong(k.keyAt, "the header "+k.name+" cannot be set", "")
		default:
			all[k.key], seen[name] = v, true
		}
	}
	return all, true
}
