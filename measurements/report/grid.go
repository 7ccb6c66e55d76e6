package report

// cell is one place of a grid. Text that comes from outside is escaped by each
// format in its own way; numbers are ours and pass as they are.
type cell struct {
	text   string
	number bool
}

func text(s string) cell   { return cell{text: s} }
func number(s string) cell { return cell{text: s, number: true} }

// column is one column of a view over rows T: how people read it, and what a
// program reads.
type column[T any] struct {
	title string       // for people; "" = not shown to them
	key   bool         // repeated when a table is broken into blocks
	show  func(T) cell // rounded
	name  string       // for programs; "" = not written for them
	raw   func(T) cell // exact
}

// grid is a table without a format.
type grid struct {
	titles []string
	keys   int // leading columns that are repeated in each block
	rows   [][]cell
}

// shown builds the grid for people.
func shown[T any](columns []column[T], rows []T) grid {
	g := gridWith(columns, rows, func(c column[T]) (string, func(T) cell) { return c.title, c.show })
	for _, c := range columns {
		if c.title != "" && c.key {
			g.keys++
		}
	}
	return g
}

// written builds the grid for programs.
func written[T any](columns []column[T], rows []T) grid {
	return gridWith(columns, rows, func(c column[T]) (string, func(T) cell) { return c.name, c.raw })
}

// gridWith takes one face of each column that has it: its name, and its cells.
func gridWith[T any](columns []column[T], rows []T, face func(column[T]) (string, func(T) cell)) grid {
	var g grid
	var faces []func(T) cell
	for _, c := range columns {
		if name, of := face(c); name != "" {
			g.titles = append(g.titles, name)
			faces = append(faces, of)
		}
	}
	for _, r := range rows {
		line := make([]cell, len(faces))
		for i, of := range faces {
			line[i] = of(r)
		}
		g.rows = append(g.rows, line)
	}
	return g
}
