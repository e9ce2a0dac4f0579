package trace_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/trace"
)

// known is what a reader knows who folds a view and the batches after it.
type known struct {
	seq      uint64
	routes   map[int64]trace.Route
	accounts map[string]trace.Account
	status   trace.Status
	feed     trace.Feed
}

func (k *known) replace(v trace.View) {
	k.seq, k.status = v.Seq, v.Status
	k.status.Accounts, k.status.Groups = nil, nil
	k.routes, k.accounts = map[int64]trace.Route{}, map[string]trace.Account{}
	for _, r := range v.Routes {
		k.routes[r.ID] = r
	}
	for _, a := range v.Status.Accounts {
		k.accounts[a.ID] = a
	}
}

func (k *known) apply(b trace.Batch) error {
	if b.Seq <= k.seq && !b.Behind {
		return fmt.Errorf("the batch at %d comes after %d", b.Seq, k.seq)
	}
	last := k.seq
	for _, r := range b.Routes {
		if r.Seq <= last || r.Seq > b.Seq {
			return fmt.Errorf("route %d has number %d between %d and %d", r.ID, r.Seq, last, b.Seq)
		}
		last = r.Seq
		k.routes[r.ID] = r
	}
	for _, a := range b.Accounts {
		k.accounts[a.ID] = a
		if a.Removed {
			delete(k.accounts, a.ID)
		}
	}
	if b.Status != nil {
		k.status = *b.Status
	}
	k.seq = b.Seq
	if b.Behind {
		k.replace(*b.View)
	}
	return nil
}

// Whatever is published and whenever readers look: what a reader knows after it has
// caught up is what the bus holds, and the counts are those of a plain recount.
func TestEveryReaderEndsWithWhatTheBusHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := trace.NewBus(trace.Options{Location: time.UTC, Keep: 8, Logs: 5})
		var readers []*known
		newest := map[int64]trace.Route{}
		published := 0

		catchUp := func(k *known) {
			if k.seq == b.View().Seq {
				return
			}
			got, err := k.feed.Next(context.Background(), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if err := k.apply(got); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"route": func(t *rapid.T) {
				r := trace.Route{
					ID: rapid.Int64Range(1, 40).Draw(t, "id"), Time: start, MS: int64(published),
					Done: rapid.Bool().Draw(t, "done"), Status: rapid.SampledFrom([]int{0, 200, 429}).Draw(t, "status"),
				}
				if was := newest[r.ID]; was.Done {
					if _, kept := b.Route(r.ID); !kept || !r.Done {
						return
					}
				}
				b.Publish(r)
				published++
				newest[r.ID] = r
			},
			"account": func(t *rapid.T) {
				b.PublishAccount(trace.Account{
					ID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"), InFlight: published,
					Removed: rapid.Bool().Draw(t, "removed"),
				})
				published++
			},
			"log": func(*rapid.T) {
				b.PublishLog(trace.Log{Text: "x"})
				published++
			},
			"watch": func(t *rapid.T) {
				if len(readers) == 4 {
					return
				}
				v, f, err := b.Watch(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				k := &known{feed: f}
				k.replace(v)
				readers = append(readers, k)
			},
			"look": func(t *rapid.T) {
				if len(readers) > 0 {
					catchUp(rapid.SampledFrom(readers).Draw(t, "reader"))
				}
			},
			"leave": func(*rapid.T) {
				if len(readers) > 3 {
					readers[0].feed.Close()
					readers = readers[1:]
				}
			},
			"": func(t *rapid.T) {
				v := b.View()
				live, done := 0, 0
				for _, r := range newest {
					if r.Done {
						done++
						continue
					}
					live++
					if _, ok := b.Route(r.ID); !ok {
						t.Fatalf("live route %d left", r.ID)
					}
				}
				totals := v.Status.Totals
				if totals.InFlight != int64(live) || totals.Requests != int64(done) {
					t.Fatalf("totals %+v, want %d live, %d done", totals, live, done)
				}
				if len(v.Routes) > max(8, live+1) {
					t.Fatalf("%d routes kept with %d live", len(v.Routes), live)
				}
			},
		})
		for _, k := range readers {
			catchUp(k)
			want := &known{}
			v := b.View()
			want.replace(v)
			for id := range k.routes { // a reader may keep longer what it saw end
				if _, ok := want.routes[id]; !ok {
					if !k.routes[id].Done {
						t.Fatalf("a reader believes that route %d is live", id)
					}
					delete(k.routes, id)
				}
			}
			if d := cmp.Diff(want.routes, k.routes); d != "" {
				t.Fatal("routes:", d)
			}
			if d := cmp.Diff(want.accounts, k.accounts); d != "" {
				t.Fatal("accounts:", d)
			}
			if d := cmp.Diff(want.status, k.status); d != "" {
				t.Fatal("status:", d)
			}
			k.feed.Close()
		}
	})
}
