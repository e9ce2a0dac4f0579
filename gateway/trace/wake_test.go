package trace

import "testing"

func rang(w *waiter) bool {
	select {
	case <-w.bell:
		return true
	default:
		return false
	}
}

func TestTheBellIsPassedOn(t *testing.T) {
	var ws waiters
	a, b, c := newWaiter(), newWaiter(), newWaiter()
	count := func() (n int) {
		for _, w := range []*waiter{&a, &b, &c} {
			if rang(w) {
				n++
			}
		}
		return n
	}
	for _, w := range []*waiter{&a, &b, &c} {
		ws.park(w)
		ws.park(w)
	}
	ws.tell()
	if n := count(); n != 1 {
		t.Fatalf("a publish rang %d bells, want one", n)
	}
	ws.tell() // while one is on its way
	if n := count(); n != 0 {
		t.Fatalf("another publish rang %d bells more", n)
	}
	ws.forget(ws.rung) // it left instead of looking
	if n := count(); n != 1 {
		t.Fatal("who was rung and left did not pass the bell on")
	}
	last := ws.due[0]
	ws.forget(last) // it leaves before it is rung
	ws.pass(ws.rung)
	if n := count(); n != 0 || ws.rung != nil || len(ws.due)+len(ws.waiting) != 0 {
		t.Fatalf("something is left: %+v", ws)
	}
	ws.park(&a)
	ws.tell()
	if !rang(&a) {
		t.Error("after all that nobody is woken any more")
	}
}
