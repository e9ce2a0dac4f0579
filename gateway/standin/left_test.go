package standin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/provider/vendors/glm"
)

func TestAVendorTellsItsKeysWhatIsLeft(t *testing.T) {
	for _, tc := range []struct{ vendor, path, want string }{
		{"deepseek", "/user/balance", `"total_balance":"0.35"`},
		{"openrouter", "/api/v1/credits", `"total_credits":20`},
		{"glm", "/api/monitor/usage/quota/limit", `"TOKENS_LIMIT"`},
	} {
		v := standin.New(standin.Options{Vendor: tc.vendor, Keys: []string{"sk-good"}})
		ask := func(method, key string) (int, string) {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://vendor.test"+tc.path, http.NoBody)
			r.Header.Set("Authorization", "Bearer "+key)
			w := httptest.NewRecorder()
			v.ServeHTTP(w, r)
			body, err := io.ReadAll(w.Result().Body)
			if err != nil {
				t.Fatal(err)
			}
			return w.Code, string(body)
		}
		status, body := ask(http.MethodGet, "sk-good")
		if status != 200 || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s", tc.vendor, status, body)
		}
		if status, _ := ask(http.MethodGet, "sk-bad"); status != 401 {
			t.Errorf("%s: another key: %d", tc.vendor, status)
		}
		if status, _ := ask(http.MethodPost, "sk-good"); status != 404 {
			t.Errorf("%s: a POST: %d", tc.vendor, status)
		}
		if tc.vendor != "glm" {
			continue
		}
		if r, err := glm.Parse([]byte(body), time.Now()); err != nil || len(r.Windows) != 2 || r.Plan != "pro" {
			t.Errorf("%v %+v", err, r)
		}
	}
}
