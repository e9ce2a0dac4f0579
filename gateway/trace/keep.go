package trace

// KeepWhy says, as a fact, why a conversation stays with who answered it last, or does not.
type KeepWhy string

// Why a conversation stays with who answered it last, or does not.
const (
	KeepOff     KeepWhy = "off"      // affinity is off
	KeepFirst   KeepWhy = "first"    // nobody is known to have answered it
	KeepGone    KeepWhy = "gone"     // who answered is not among those that may be asked
	KeepResting KeepWhy = "resting"  // who answered rests
	KeepSpent   KeepWhy = "spent"    // who answered has used its allowance up
	KeepMoved   KeepWhy = "moved"    // kept: the person moved it there
	KeepPinned  KeepWhy = "pinned"   // the person's pin puts another first
	KeepRule    KeepWhy = "rule"     // a rule of the group puts another first
	KeepSession KeepWhy = "session"  // kept: it stays to its end
	KeepTurn    KeepWhy = "turn"     // kept: the turn goes on
	KeepNewTurn KeepWhy = "new-turn" // a turn begins, and each may go to another
	KeepNoCache KeepWhy = "no-cache" // its last reply read next to nothing from a cache
	KeepCold    KeepWhy = "cold"     // its last reply is so long ago that the cache is gone
	KeepCache   KeepWhy = "cache"    // kept: its cache is warm there
)
