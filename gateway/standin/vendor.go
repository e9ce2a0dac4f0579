package standin

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"dev.magpie/gateway/wire"
)

// Options says what a stand-in vendor is like. The zero value speaks all four APIs,
// strictly, lets any key in and answers at once.
type Options struct {
	Vendor   string          // whose models, words and habits: a name of Vendors; "" = a relay that speaks all four APIs
	APIs     []wire.Protocol // the APIs that it speaks; nil = the vendor's own
	Models   []string        // the models that it serves; nil = the vendor's own
	Root     string          // what stands where its OpenAI-style paths have "/v1"; "" = "/v1"
	Keys     []string        // only these are let in, any other gets a 401; nil = any key
	NoKey    bool            // a local model: wants no key, and one that comes is a leak
	Lenient  bool            // takes request bodies that the vendor would refuse, and keys in any form
	Secrets  []string        // words that must never arrive: each that does is a leak
	Text     string          // what the default answer says; "" = something short
	Think    string          // what it thinks before that, when thinking is asked for
	Loop     *Loop           // has an agent write a file before the final text
	Busy     bool            // calls some offered tools before it answers, as a model at work does
	Pace     Pace            // how fast it answers; zero = at once
	Overhead int             // tokens added to each prompt's count
	Seed     uint64          // of ids, texts and pauses
	Keep     int             // calls that are remembered: 0 = all, -1 = none
}

// Pace says how long a vendor takes: until the reply's first byte, and from each
// piece of it to the next.
type Pace struct{ First, Gap Span }

// Span is a length of time drawn between two bounds. Max below Min means Min.
type Span struct{ Min, Max time.Duration }

// Vendor is a stand-in vendor.
type Vendor struct {
	opts   Options
	house  house
	models []model
	log    callLog

	mu      sync.Mutex
	scripts map[string]*script
	meters  map[string]*meter
	prompts *promptCache
	stored  *conversations
}

// AnyKey is the key under which Script keeps the steps for requests that no step of their own key fits.
const AnyKey = "*"

// New makes a vendor. It panics on a vendor's name that it doesn't know: that is a
// mistake in the caller's source.
func New(o Options) *Vendor {
	h, ok := houses[o.Vendor]
	if !ok {
		panic(fmt.Sprintf("standin: no vendor %q; there are %v", o.Vendor, Vendors()))
	}
	if o.APIs != nil {
		h.apis = o.APIs
	}
	if h.roles == nil {
		h.roles = openAIRoles
	}
	if o.Root == "" {
		o.Root = "/v1"
	}
	v := &Vendor{
		opts:    o,
		house:   h,
		models:  h.models,
		log:     callLog{keep: o.Keep},
		scripts: map[string]*script{},
		meters:  map[string]*meter{},
		prompts: newPromptCache(),
		stored:  newConversations(),
	}
	if o.Models != nil {
		v.models = nil
		for _, id := range o.Models {
			v.models = append(v.models, modelNamed(id))
		}
	}
	return v
}

// Script sets the steps that answer the requests of one key, in order, in place of
// those set before; after the last one the answers are good. A key's step is the
// first that has requests left and fits the request.
func (v *Vendor) Script(key string, faults ...Fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.scripts[key] = newScript(faults)
}

// Windows sets the allowance windows of a key. Its replies tell them in the
// vendor's headers; each answer uses them up by their Grow, and while one is full
// the key gets the vendor's quota refusal until that window renews.
func (v *Vendor) Windows(key string, windows ...Window) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.meters[key] = newMeter(time.Now(), windows)
}

// Load sets what a script file says: see ParseScript.
func (v *Vendor) Load(s Script) {
	for key, faults := range s.Steps {
		v.Script(key, faults...)
	}
	for key, windows := range s.Windows {
		v.Windows(key, windows...)
	}
}

// Name is the vendor's word, "relay" for one that has none.
func (v *Vendor) Name() string {
	if v.opts.Vendor == "" {
		return "relay"
	}
	return v.opts.Vendor
}

// speaks tells whether the vendor has the API.
func (v *Vendor) speaks(p wire.Protocol) bool { return slices.Contains(v.house.apis, p) }

// ServeHTTP answers as the vendor would.
func (v *Vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := v.log.open(r)
	x := &exchange{v: v, w: w, r: r, call: e}
	defer x.close()
	x.serve()
}
