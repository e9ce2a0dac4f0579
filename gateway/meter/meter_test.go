package meter_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dev.magpie/gateway/meter"
	"dev.magpie/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const id provider.AccountID = "relay/main"

// vendor answers what it is told to, and counts.
type vendor struct {
	mu     sync.Mutex
	asked  int
	answer func(n int) (provider.Reading, error)
	takes  time.Duration

	told []string
}

func week(used float64) provider.Reading {
	return provider.Reading{Windows: []provider.Window{{Name: "7 days", Used: used}}}
}

func (v *vendor) ask(ctx context.Context, _ provider.AccountID) (provider.Reading, error) {
	v.mu.Lock()
	v.asked++
	n := v.asked
	v.mu.Unlock()
	select {
	case <-time.After(v.takes):
		return v.answer(n)
	case <-ctx.Done():
		return provider.Reading{}, ctx.Err()
	}
}

func (v *vendor) tell(_ provider.AccountID, r provider.Reading, err error, _ time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err != nil:
		v.told = append(v.told, "failed: "+err.Error())
	case len(r.Windows) == 0:
		v.told = append(v.told, "no windows")
	default:
		v.told = append(v.told, time.Duration(r.Windows[0].Used).String())
	}
}

func (v *vendor) count() (int, []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asked, slices.Clone(v.told)
}

// with runs a test in a bubble of its own clock.
func with(t *testing.T, v *vendor, run func(t *testing.T, m *meter.Meter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := meter.New(meter.Options{Ask: v.ask, Told: v.tell})
		defer m.Close()
		run(t, m)
	})
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (v *vendor) want(t *testing.T, asked int, told ...string) {
	t.Helper()
	n, said := v.count()
	if n != asked || !slices.Equal(said, told) {
		t.Errorf("asked %d times and told %q, want %d and %q", n, said, asked, told)
	}
}

func always(r provider.Reading, err error) func(int) (provider.Reading, error) {
	return func(int) (provider.Reading, error) { return r, err }
}

func TestAKeyIsReadOnceAMinuteHoweverManyAsk(t *testing.T) {
	v := &vendor{answer: always(week(5), nil), takes: time.Second}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		for range 1000 {
			m.Want(id, time.Now())
		}
		pass(2 * time.Second)
		v.want(t, 1, "5ns")
		for range 57 {
			m.Want(id, time.Now())
			pass(time.Second)
		}
		v.want(t, 1, "5ns")
		pass(2 * time.Second)
		m.Want(id, time.Now())
		pass(2 * time.Second)
		v.want(t, 2, "5ns", "5ns")
	})
}

func TestNobodyWaitsForAReading(t *testing.T) {
	v := &vendor{answer: always(week(5), nil), takes: 20 * time.Second}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		began := time.Now()
		m.Want(id, began)
		m.Stale(id)
		m.Forget(id)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestAFailedReadingIsNotAskedAgainAtOnce(t *testing.T) {
	v := &vendor{answer: always(provider.Reading{}, errors.New("502"))}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		for range 59 {
			m.Want(id, time.Now())
			pass(time.Second)
		}
		v.want(t, 1, "failed: 502")
		pass(time.Second)
		m.Want(id, time.Now())
		synctest.Wait()
		v.want(t, 2, "failed: 502", "failed: 502")
	})
}

func TestAVendorThatNeverAnswersIsLeft(t *testing.T) {
	v := &vendor{answer: always(week(5), nil), takes: time.Hour}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		m.Want(id, time.Now())
		pass(31 * time.Second)
		v.want(t, 1, "failed: context deadline exceeded")
	})
}

func TestAKeyWithoutWindowsIsLeftForHalfAnHour(t *testing.T) {
	v := &vendor{answer: always(provider.Reading{Balance: "$5"}, nil)}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		m.Want(id, time.Now())
		pass(29 * time.Minute)
		m.Want(id, time.Now())
		synctest.Wait()
		v.want(t, 1, "no windows")
		pass(time.Minute)
		m.Want(id, time.Now())
		synctest.Wait()
		v.want(t, 2, "no windows", "no windows")
	})
}

func TestOneThatIsHeldIsReadEachMinuteThoughItHasNoWindows(t *testing.T) {
	v := &vendor{answer: func(n int) (provider.Reading, error) { return provider.Reading{Held: n == 1}, nil }}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		for range 3 { // it is held no more at the second
			m.Want(id, time.Now())
			pass(time.Minute)
		}
		v.want(t, 2, "no windows", "no windows")
	})
}

func TestAStaleKeyIsReadAtTheNextAsk(t *testing.T) {
	v := &vendor{answer: func(n int) (provider.Reading, error) { return week(float64(n)), nil }, takes: 2 * time.Second}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		m.Stale(id) // nothing is known of it yet
		m.Want(id, time.Now())
		pass(3 * time.Second)
		m.Stale(id)
		pass(time.Second)
		v.want(t, 1, "1ns") // nobody asked
		m.Want(id, time.Now())
		pass(time.Second)
		m.Stale(id) // while one is under way
		pass(10 * time.Second)
		v.want(t, 3, "1ns", "2ns", "3ns")
		m.Want(id, time.Now())
		pass(3 * time.Second)
		v.want(t, 3, "1ns", "2ns", "3ns")
	})
}

func TestAReadingOfAnotherKeyIsDropped(t *testing.T) {
	v := &vendor{answer: func(n int) (provider.Reading, error) { return week(float64(n)), nil }, takes: 2 * time.Second}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		m.Want(id, time.Now())
		pass(time.Second)
		m.Forget(id)
		pass(10 * time.Second)
		v.want(t, 2, "2ns")
		m.Forget(id)
		pass(time.Second)
		v.want(t, 2, "2ns")
		m.Want(id, time.Now())
		pass(3 * time.Second)
		v.want(t, 3, "2ns", "3ns")
	})
}

func TestAPersonMayAskAtOnce(t *testing.T) {
	v := &vendor{answer: always(week(5), nil)}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		m.Want(id, time.Now())
		synctest.Wait()
		m.Refresh(id, time.Now())
		synctest.Wait()
		v.want(t, 2, "5ns", "5ns")
		if at, busy := m.Asked(id); busy || !at.Equal(time.Now()) {
			t.Errorf("asked %v, busy %v", at, busy)
		}
	})
}

func TestAClockThatWentBackAsksAgain(t *testing.T) {
	v := &vendor{answer: always(week(5), nil)}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		m.Want(id, time.Now().Add(24*time.Hour))
		synctest.Wait()
		m.Want(id, time.Now())
		synctest.Wait()
		v.want(t, 2, "5ns", "5ns")
	})
}

func TestFewAreAskedAtOnce(t *testing.T) {
	var mu sync.Mutex
	now, top := 0, 0
	synctest.Test(t, func(t *testing.T) {
		m := meter.New(meter.Options{
			Told: func(provider.AccountID, provider.Reading, error, time.Time) {},
			Ask: func(context.Context, provider.AccountID) (provider.Reading, error) {
				mu.Lock()
				now++
				top = max(top, now)
				mu.Unlock()
				<-time.After(time.Second)
				mu.Lock()
				now--
				mu.Unlock()
				return week(1), nil
			},
		})
		for i := range 50 {
			m.Want(provider.AccountID("relay/"+string(rune('a'+i))), time.Now())
		}
		pass(time.Minute)
		m.Close()
		m.Want("relay/late", time.Now()) // nothing begins behind its end
		synctest.Wait()
	})
	if top != 4 {
		t.Errorf("%d at once", top)
	}
}

func TestCloseEndsWhatIsAsked(t *testing.T) {
	v := &vendor{answer: always(week(5), nil), takes: time.Hour}
	with(t, v, func(t *testing.T, m *meter.Meter) {
		m.Want(id, time.Now())
		synctest.Wait()
		began := time.Now()
		m.Close()
		if time.Since(began) != 0 {
			t.Error("it waits for the vendor")
		}
		v.want(t, 1)
	})
}
