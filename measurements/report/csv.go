package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// csvGrid prints a grid below its header. Text is escaped, numbers are ours.
func csvGrid(g grid) (string, error) {
	records := [][]string{g.titles}
	for _, r := range g.rows {
		record := make([]string, len(r))
		for i, c := range r {
			record[i] = c.text
			if !c.number {
				record[i] = csvText(c.text)
			}
		}
		records = append(records, record)
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		return "", fmt.Errorf("printing as CSV: %w", err)
	}
	return b.String(), nil
}
