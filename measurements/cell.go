package measurements

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
)

// cells are the values of one column of a row group. They are read from the arrays
// of a page as they are: a parquet.Value of each costs as much as decoding it does.
type cells struct {
	column
	at    int // of the column in the file
	pages parquet.Pages
	page  parquet.Page
	left  int // rows of the page

	levels  []byte // of the rows left: 1 = known; empty where a column has no nulls
	value   int    // of the page's values, the next one: nulls have none
	flags   []byte // a bit each
	numbers []int64
	places  []int32 // in the dictionary, where there is one
	texts   []byte
	ends    []uint32 // of the texts, from 0 on
}

// fill sets the part of some entries that this column is.
func (c *cells) fill(batch []entry) error {
	for len(batch) > 0 {
		for c.left == 0 {
			if err := c.turn(); err != nil {
				return err
			}
		}
		n := min(c.left, len(batch))
		for i := range batch[:n] {
			if len(c.levels) > 0 && c.levels[i] == 0 {
				continue
			}
			c.set(&batch[i])
			c.value++
		}
		if len(c.levels) > 0 {
			c.levels = c.levels[n:]
		}
		batch = batch[n:]
		c.left -= n
	}
	return nil
}

func (c *cells) set(e *entry) {
	switch {
	case c.number != nil:
		c.number(e, c.numbers[c.value])
	case c.flag != nil:
		c.flag(e, c.flags[c.value/8]>>(c.value%8)&1 == 1)
	case c.places != nil:
		place := c.places[c.value]
		c.text(e, c.texts[c.ends[place]:c.ends[place+1]])
	default:
		c.text(e, c.texts[c.ends[c.value]:c.ends[c.value+1]])
	}
}

// turn goes on to the next page. What is not as its column says panics.
func (c *cells) turn() error {
	c.release()
	page, err := c.pages.ReadPage()
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	c.page, c.left, c.value, c.places = page, int(page.NumValues()), 0, nil
	c.levels = page.DefinitionLevels()
	data, words := page.Data(), page.Dictionary()
	switch {
	case c.number != nil:
		c.numbers = data.Int64()
	case c.flag != nil:
		c.flags = data.Boolean()
	case words == nil:
		c.texts, c.ends = data.ByteArray()
	default:
		c.places = data.Int32()
		data = words.Page().Data()
		c.texts, c.ends = data.ByteArray()
	}
	return nil
}

func (c *cells) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page, c.left = nil, 0
	}
}

func (c *cells) close() error {
	c.release()
	if c.pages == nil {
		return nil
	}
	pages := c.pages
	c.pages = nil
	return pages.Close()
}
