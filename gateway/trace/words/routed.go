package words

import (
	"math"
	"strconv"
	"time"

	"dev.magpie/gateway/trace"
)

// routed says why a routing put a candidate where it stands.
func routed(r trace.Reason, now time.Time) string {
	switch r.Code { //nolint:exhaustive // the others are said elsewhere
	case trace.WhyLearns:
		return "its allowance is not known yet, and its reply will tell it"
	case trace.WhySooner:
		return "sooner to renew: " + Clock(r.At, now) + used(r)
	case trace.WhyLater:
		return "renews later: " + Clock(r.At, now) + used(r)
	case trace.WhyUnknown:
		return "nobody knows when it renews, so after those that renew" + used(r)
	case trace.WhyLow:
		return "low: " + Percent(r.Share) + " used, so after those below 90%"
	case trace.WhySpent:
		return "spent: " + Percent(r.Share) + " used, so after those with room"
	case trace.WhyShut:
		return "its vendor answers nothing until it renews, so after those with room" + used(r)
	case trace.WhyLeastUsed:
		return "least used: " + Percent(r.Share)
	case trace.WhyMoreUsed:
		return "more used: " + Percent(r.Share)
	case trace.WhyFewestTokens:
		return "served the fewest tokens lately: " + Count(r.Count)
	case trace.WhyMoreTokens:
		return "served more tokens lately: " + Count(r.Count)
	case trace.WhyTurn:
		return turn(r)
	case trace.WhyPace:
		return "has the most to spend: " + pace(r, now)
	case trace.WhyLessPace:
		return "has less to spend: " + pace(r, now)
	case trace.WhyHaste:
		return "would end unused: to be spent are " + pace(r, now)
	case trace.WhyLevel:
		return "has time: " + Percent(r.Share) + " of its short window used"
	case trace.WhyByUse:
		return "has no allowance that would end unused, so after those that have"
	case trace.WhyWeight:
		return "its turn by weight: " + share(r)
	case trace.WhyWeighed:
		return "another's turn by weight: it has " + share(r)
	case trace.WhyPicked:
		return "the member that is picked"
	case trace.WhyAside:
		return "a key made for another API, so after those that suit this request"
	case trace.WhyUnfit:
		return "a key made for " + or(r.Text, "one API") + ", so after those that suit this request better"
	case trace.WhySunk:
		return "limited at " + Clock(r.At, now) + ", so behind"
	}
	return string(r.Code)
}

// used adds how much is used, where that is told.
func used(r trace.Reason) string {
	if r.Share == 0 {
		return ""
	}
	return ", " + Percent(r.Share) + " used"
}

func turn(r trace.Reason) string {
	switch r.Count {
	case 0:
		return "its turn"
	case 1:
		return "its turn is next"
	}
	return "its turn comes after " + strconv.FormatInt(r.Count, 10) + " others"
}

func pace(r trace.Reason, now time.Time) string {
	s := strconv.FormatFloat(math.Round(r.Share*10)/10, 'f', -1, 64) + "% an hour"
	if r.At.IsZero() {
		return s
	}
	return s + until(r.At, now)
}

func share(r trace.Reason) string {
	return strconv.FormatInt(r.Count, 10) + " of " + strconv.Itoa(r.Limit)
}

// Percent writes a share: 12%, 99%; only what is full is 100%.
func Percent(share float64) string {
	whole := math.Round(share)
	if whole >= 100 && share < 100 {
		whole = 99
	}
	return strconv.FormatFloat(whole, 'f', 0, 64) + "%"
}
