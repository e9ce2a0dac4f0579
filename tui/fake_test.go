package tui

import (
	"context"
	"strings"
	"sync"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
)

// fakeGateway is a real bus with control calls that are only written down.
type fakeGateway struct {
	bus     *trace.Bus
	preview func(control.Command) (control.Effect, error)
	plan    func(model string) (trace.Route, error)
	do      func(control.Command, control.Token) (control.Done, error)

	mu   sync.Mutex
	done []control.Command
}

func newFake(v trace.View) *fakeGateway {
	bus := trace.NewBus(trace.Options{Location: time.UTC})
	for _, a := range v.Status.Accounts {
		bus.PublishAccount(a)
	}
	for _, g := range v.Status.Groups {
		bus.PublishGroup(g)
	}
	for _, r := range v.Routes {
		bus.Publish(r)
	}
	for _, l := range v.Logs {
		bus.PublishLog(l)
	}
	bus.PublishStatus(v.Status.Started, v.Status)
	return &fakeGateway{bus: bus}
}

func (g *fakeGateway) Watch(ctx context.Context) (trace.View, trace.Feed, error) {
	return g.bus.Watch(ctx)
}

func (g *fakeGateway) Plan(_ context.Context, model string) (trace.Route, error) {
	if g.plan == nil {
		return trace.Route{Asked: model, Resolved: trace.Resolved{Group: strings.TrimPrefix(model, "group/")}}, nil
	}
	return g.plan(model)
}

func (g *fakeGateway) Preview(_ context.Context, c control.Command) (control.Effect, error) {
	if g.preview == nil {
		return control.Effect{Class: control.Reversible, Words: "it would", Token: "fresh"}, nil
	}
	return g.preview(c)
}

func (g *fakeGateway) Do(_ context.Context, c control.Command, token control.Token) (control.Done, error) {
	g.mu.Lock()
	g.done = append(g.done, c)
	g.mu.Unlock()
	if g.do == nil {
		return control.Done{Words: "done: " + string(c.Verb), Undo: true}, nil
	}
	return g.do(c, token)
}

// did lists what was carried out.
func (g *fakeGateway) did() []control.Command {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]control.Command(nil), g.done...)
}
