package budget

import (
	"errors"
	"fmt"
)

// RefusedError says that an attempt was not sent because no cap may be crossed. It
// is final: nothing that is under way can free enough for this attempt.
type RefusedError struct {
	Flag   string // of the cap that stands in the way
	Cap    string // as people write it
	Used   string // of the cap so far; "" = nothing, or just all of it
	Needed string // by the attempt, at worst; "" = nothing at all fits any more
	Raised bool   // more is reserved than was estimated: calls used more than that
}

func (e *RefusedError) Error() string {
	switch {
	case e.Needed == "" && e.Used == "":
		return fmt.Sprintf("the budget of %s is spent", e.Cap)
	case e.Needed == "":
		return fmt.Sprintf("the budget of %s is spent: %s so far", e.Cap, e.Used)
	case e.Used == "":
		return fmt.Sprintf("the budget of %s does not hold the next call, which may come to %s%s", e.Cap, e.Needed, e.why())
	}
	return fmt.Sprintf("the budget of %s is spent: %s so far, and the next call may come to %s%s", e.Cap, e.Used, e.Needed, e.why())
}

func (e *RefusedError) why() string {
	if e.Raised {
		return ", raised because an earlier call used more than was reserved for it"
	}
	return ""
}

// ErrDrained says that an attempt that waited for its turn was given up.
var ErrDrained = errors.New("stopped before the call was sent")
