package trace

// Rule is what a group's rules said of a request: the one in force, or why none is.
type Rule struct {
	N          int         `json:"n"` // its place in the config, from 1; 0 = none is in force
	Use        string      `json:"use"`
	When       []string    `json:"when,omitempty"`    // its conditions
	Group      string      `json:"group,omitempty"`   // whose rule it is
	Held       bool        `json:"held,omitempty"`    // decided as the turn began
	Waits      bool        `json:"waits,omitempty"`   // the turn was met in its middle, or its rule is another by now: nothing is moved
	Grown      bool        `json:"grown,omitempty"`   // moved within the turn, as it outgrew the model's window
	Turn       int         `json:"turn,omitempty"`    // user turns so far
	Tokens     int         `json:"tokens,omitempty"`  // that counted for the rules
	Images     bool        `json:"images,omitempty"`  // the turn shows one
	Effort     string      `json:"effort,omitempty"`  // that the agent asked for; "on" without a level
	Unready    bool        `json:"unready,omitempty"` // whom it names is not ready
	Then       []string    `json:"then,omitempty"`    // members that later rules name, which match too
	Instead    string      `json:"instead,omitempty"` // the one of them that goes first, as the named one is not ready
	Classified *Classified `json:"classified,omitempty"`
	Pick       string      `json:"pick,omitempty"`  // how hard the turn shall think
	Bare       bool        `json:"bare,omitempty"`  // no rule is in force: told for the rest alone
	Inner      *Rule       `json:"inner,omitempty"` // of the group in the group that goes first
}

// Classified is what a group's classifier said of a turn.
type Classified struct {
	By      string   `json:"by"` // the model that was asked
	Intents []string `json:"intents,omitempty"`
	Intent  string   `json:"intent,omitempty"` // which of them the turn has, "" = none
	Sure    float64  `json:"sure,omitempty"`   // 0 to 1
	Cached  bool     `json:"cached,omitempty"` // said before, of the same turn
	MS      int64    `json:"ms,omitempty"`
	Error   string   `json:"error,omitempty"` // why it said nothing: then no intent matches
	Effort  string   `json:"effort,omitempty"`
	Score   float64  `json:"score,omitempty"` // how hard it finds the turn, 0 to 1
}
