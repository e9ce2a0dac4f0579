package standin

import (
	"net/http"
	"time"
)

// leftReply is what a vendor says when it is asked how much is left of a key, nil where it has no page for that.
func (v *Vendor) leftReply(r *http.Request) object {
	if r.Method != http.MethodGet {
		return nil
	}
	switch v.Name() + " " + r.URL.Path {
	case "deepseek /user/balance":
		return object{"is_available": true, "balance_infos": list{object{
			"currency": "USD", "total_balance": "0.35", "granted_balance": "0.00", "topped_up_balance": "0.35",
		}}}
	case "openrouter /api/v1/credits":
		return object{"data": object{"total_credits": 20, "total_usage": 7.5}}
	case "glm /api/monitor/usage/quota/limit":
		const hours, weeks = 3, 6 // the units of its windows
		until := func(d time.Duration) int64 { return time.Now().Add(d).UnixMilli() }
		return object{"success": true, "code": http.StatusOK, "data": object{"level": "pro", "limits": list{
			object{"type": "TOKENS_LIMIT", "unit": hours, "number": 5, "percentage": 21, "nextResetTime": until(3*time.Hour + 10*time.Minute)},
			object{"type": "TOKENS_LIMIT", "unit": weeks, "number": 1, "percentage": 44, "nextResetTime": until(4*24*time.Hour + 7*time.Hour)},
		}}}
	}
	return nil
}
