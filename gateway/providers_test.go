package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

const control = "Authorization: Bearer control-token"

func TestProvidersAreListedWithoutTheirKeys(t *testing.T) {
	r := newRig(t, twoKeys+`
[providers.b]
chat = "http://127.0.0.1:9/v1"
proxy = "http://me:hunter2hunter2@proxy.example:8080"
keys = [{ name = "gone", env = "NOBODY_SET_THIS" }]
models = ["m"]
`, vendors{"a": standin.New(standin.Options{})})
	got := r.do(http.MethodGet, "/v1/magpie/providers", "")
	var list struct{ Providers []trace.Provider }
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list.Providers) != 2 {
		t.Fatalf("%v: %s", err, got.body)
	}
	for _, secret := range []string{keyOne, keyTwo, "hunter2hunter2"} {
		if strings.Contains(got.body, secret) {
			t.Errorf("%s is shown: %s", secret, got.body)
		}
	}
	a, b := list.Providers[0], list.Providers[1]
	if len(a.Bases) != 4 || len(a.Keys) != 2 || a.Keys[0].Source != "value" || a.Keys[0].Masked != "sk-t…0001" || a.From != trace.FromNowhere {
		t.Errorf("%+v", a)
	}
	if b.Models != 1 || b.From != trace.FromConfig || b.Keys[0].Source != "env NOBODY_SET_THIS" || b.Keys[0].State != trace.Unready || b.Keys[0].Error == "" {
		t.Errorf("%+v", b)
	}
}

func TestAKeyIsTestedByAskingForTheVendorsModels(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m", "n"}, Keys: []string{keyOne}})
	r := newRig(t, twoKeys, vendors{"a": v})
	if got := r.ask("/v1/magpie/provider/test?provider=a", "{}"); got.status != http.StatusUnauthorized || len(v.Calls()) != 0 {
		t.Fatalf("without the token: %d, calls %d", got.status, len(v.Calls()))
	}
	got := r.ask("/v1/magpie/provider/test?provider=a", "{}", control)
	var said struct{ Tests []trace.KeyTest }
	if err := json.Unmarshal([]byte(got.body), &said); err != nil || len(said.Tests) != 2 {
		t.Fatalf("%v: %s", err, got.body)
	}
	good, bad := said.Tests[0], said.Tests[1]
	if !good.OK || good.Status != 200 || good.Models != 2 {
		t.Errorf("%+v", good)
	}
	if bad.OK || bad.Fail != trace.Auth || bad.Status != 401 || bad.Error == "" || strings.Contains(got.body, keyTwo) {
		t.Errorf("%+v in %s", bad, got.body)
	}
	for _, a := range r.g.Status().Accounts {
		if a.State != trace.Fine {
			t.Errorf("a test made %s %s", a.ID, a.State)
		}
	}
}

func TestModelsAreListedAndFetchedWhenAsked(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m", "n"}})
	r := newRig(t, twoKeys, vendors{"a": v})
	list := func(method string, headers ...string) trace.Models {
		t.Helper()
		got := r.do(method, "/v1/magpie/provider/models?provider=a", "{}", headers...)
		var m trace.Models
		if err := json.Unmarshal([]byte(got.body), &m); err != nil || got.status != http.StatusOK {
			t.Fatalf("%d %v: %s", got.status, err, got.body)
		}
		return m
	}
	if m := list(http.MethodGet); len(m.Models) != 0 || len(v.Calls()) != 0 {
		t.Errorf("a listing asked the vendor: %+v", m)
	}
	if m := list(http.MethodPost, control); len(m.Models) != 2 || m.From != trace.FromVendor || len(m.Models[0].APIs) != 4 {
		t.Errorf("%+v", m)
	}
	if m := list(http.MethodGet); len(m.Models) != 2 {
		t.Errorf("what was fetched is gone: %+v", m)
	}
	if got := r.do(http.MethodGet, "/v1/magpie/provider/models?provider=aa", ""); got.status != http.StatusNotFound || !strings.Contains(got.body, `did you mean \"a\"?`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestANameThatNothingIsCalledByTellsWhoseModelsAreNotKnown(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m", "n"}, Keys: []string{"a key that nobody has"}})
	r := newRig(t, twoKeys, vendors{"a": v})
	const why = "the models of a are not known"
	if got := r.ask("/v1/chat/completions", chatBody("m")); got.status != http.StatusNotFound || strings.Contains(got.body, why) {
		t.Errorf("before its vendor was asked: %d %s", got.status, got.body)
	}
	r.do(http.MethodPost, "/v1/magpie/provider/models?provider=a", "{}", control)
	got := r.ask("/v1/chat/completions", chatBody("m"))
	if got.status != http.StatusNotFound || !strings.Contains(got.body, why+": a answered 401, the key is not taken") {
		t.Errorf("after it refused: %d %s", got.status, got.body)
	}
}

func TestAListThatWasReadTakesBackWhyThereWasNone(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Keys: []string{keyTwo}})
	r := newRig(t, twoKeys, vendors{"a": v}) // the first key is not taken
	r.do(http.MethodPost, "/v1/magpie/provider/models?provider=a", "{}", control)
	if got := r.ask("/v1/chat/completions", chatBody("x")); got.status != http.StatusNotFound || strings.Contains(got.body, "are not known") {
		t.Errorf("the second key told them: %d %s", got.status, got.body)
	}
}
