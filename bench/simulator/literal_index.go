package simulator

// literalIndex finds all of many literals in one pass over a text
// (Aho and Corasick, 1975). Regular expressions then run only on statements in
// which one of their literals stands, which keeps a call on a thousand-line
// file at a few milliseconds.
type literalIndex struct {
	class  [256]uint16 // byte -> column; 0 is "in no literal"
	width  int
	next   []int32 // state*width + class
	output [][]int // probe ids ending in a state
}

func newLiteralIndex(literals map[string][]int, order []string) *literalIndex {
	ix := &literalIndex{width: 1}
	for _, lit := range order {
		for i := 0; i < len(lit); i++ {
			if ix.class[lit[i]] == 0 {
				ix.class[lit[i]] = uint16(ix.width)
				ix.width++
			}
		}
	}
	ix.addState()
	for _, lit := range order {
		state := int32(0)
		for i := 0; i < len(lit); i++ {
			slot := int(state)*ix.width + int(ix.class[lit[i]])
			if ix.next[slot] < 0 {
				ix.next[slot] = ix.addState()
			}
			state = ix.next[slot]
		}
		ix.output[state] = append(ix.output[state], literals[lit]...)
	}
	ix.link()
	return ix
}

func (ix *literalIndex) addState() int32 {
	for range ix.width {
		ix.next = append(ix.next, -1)
	}
	ix.output = append(ix.output, nil)
	return int32(len(ix.output) - 1)
}

// link turns the trie into an automaton, breadth first.
func (ix *literalIndex) link() {
	fail := make([]int32, len(ix.output))
	var queue []int32
	for c := range ix.width {
		if s := ix.next[c]; s > 0 {
			queue = append(queue, s)
		} else {
			ix.next[c] = 0
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		ix.output[s] = append(ix.output[s], ix.output[fail[s]]...)
		for c := range ix.width {
			slot := int(s)*ix.width + c
			if t := ix.next[slot]; t >= 0 {
				fail[t] = ix.next[int(fail[s])*ix.width+c]
				queue = append(queue, t)
			} else {
				ix.next[slot] = ix.next[int(fail[s])*ix.width+c]
			}
		}
	}
}

// scan calls found with the probe id and the offset of the literal's last
// byte, for every occurrence, ignoring ASCII case.
func (ix *literalIndex) scan(text []byte, found func(probe, offset int)) {
	state := int32(0)
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		state = ix.next[int(state)*ix.width+int(ix.class[c])]
		for _, p := range ix.output[state] {
			found(p, i)
		}
	}
}
