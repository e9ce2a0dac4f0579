package wire

import (
	"encoding/json"
	"strings"
)

// Answer is a whole reply: what its events fold to.
type Answer struct {
	ID     string
	Model  string
	Parts  []Part
	Usage  Usage
	Finish Finish
	Fail   *Refusal
}

// Fold gathers events into an Answer, so that a whole reply and a streamed one can't disagree.
type Fold struct {
	a     Answer
	text  strings.Builder
	open  int // the part that text is gathered for, plus one
	part  int // its number
	calls map[int]*gathered
}

// gathered is a call whose pieces are still coming.
type gathered struct {
	at   int // its place among the parts
	args strings.Builder
}

// Add takes the next event.
func (f *Fold) Add(e Event) {
	switch e.Kind {
	case EventStart:
		f.a.ID, f.a.Model = e.ID, e.Model
	case EventThinking:
		f.piece(KindThinking, &e)
	case EventText:
		f.piece(KindText, &e)
		if e.Seal != nil {
			f.a.Parts[f.open-1].Seal = e.Seal
		}
	case EventRefusal:
		f.piece(KindRefusal, &e)
	case EventSeal:
		f.seal(e.Seal)
	case EventCall:
		f.begin(&e)
	case EventArgs:
		if g := f.calls[e.Index]; g != nil {
			g.args.WriteString(e.Text)
		}
	case EventCallEnd:
		f.end(&e)
	case EventCite:
		f.cite(e.Cite)
	case EventMedia:
		f.close()
		f.a.Parts = append(f.a.Parts, Part{Kind: KindImage, Media: e.Media})
	case EventUsage:
		f.a.Usage = e.Usage
	case EventFinish:
		f.a.Finish = e.Finish
	case EventFail:
		f.a.Fail = e.Fail
	}
}

// piece gathers text into the part that is open, or opens another.
func (f *Fold) piece(k Kind, e *Event) {
	if n := f.open - 1; n >= 0 && f.a.Parts[n].Kind == k && f.part == e.Part {
		f.text.WriteString(e.Text)
		return
	}
	f.close()
	f.a.Parts = append(f.a.Parts, Part{Kind: k})
	f.open, f.part = len(f.a.Parts), e.Part
	f.text.WriteString(e.Text)
}

// close settles the part that text was gathered for.
func (f *Fold) close() {
	if n := f.open - 1; n >= 0 {
		f.a.Parts[n].Text = f.text.String()
	}
	f.text.Reset()
	f.open = 0
}

// seal closes the reasoning that is open. Without any, the seal is a piece of its own.
func (f *Fold) seal(s *Seal) {
	n := f.open - 1
	if n < 0 || f.a.Parts[n].Kind != KindThinking {
		f.close()
		f.a.Parts = append(f.a.Parts, Part{Kind: KindThinking, Seal: s})
		return
	}
	f.a.Parts[n].Seal = s
	f.close()
}

func (f *Fold) begin(e *Event) {
	f.close()
	if f.calls == nil {
		f.calls = map[int]*gathered{}
	}
	c := *e.Call
	f.a.Parts = append(f.a.Parts, Part{Kind: KindCall, Call: &c, Seal: e.Seal})
	f.calls[e.Index] = &gathered{at: len(f.a.Parts) - 1}
}

func (f *Fold) end(e *Event) {
	g := f.calls[e.Index]
	if g == nil {
		f.begin(e)
		g = f.calls[e.Index]
	}
	c := *e.Call
	part := &f.a.Parts[g.at]
	part.Call = &c
	if e.Seal != nil {
		part.Seal = e.Seal
	}
	g.args.Reset()
}

func (f *Fold) cite(c *Cite) {
	f.closeKeep()
	for i := len(f.a.Parts) - 1; i >= 0; i-- {
		if f.a.Parts[i].Kind == KindText {
			f.a.Parts[i].Cites = append(f.a.Parts[i].Cites, *c)
			return
		}
	}
}

// closeKeep settles the text so far and lets more of it come.
func (f *Fold) closeKeep() {
	if n := f.open - 1; n >= 0 {
		f.a.Parts[n].Text = f.text.String()
	}
}

// Answer gives what the events came to. The Fold must not be used after it.
func (f *Fold) Answer() Answer {
	f.close()
	for _, g := range f.calls {
		c := f.a.Parts[g.at].Call
		if g.args.Len() == 0 {
			continue
		}
		if c.Free {
			c.Input = g.args.String()
			continue
		}
		c.Args = json.RawMessage(g.args.String())
	}
	return f.a
}
