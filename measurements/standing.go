package measurements

// Standing says how far a capture came by its rows, and what its numbers are
// worth: the manifest alone knows what was planned.
func (m Manifest) Standing(s Spend) (CaptureStatus, string) {
	return standing(m, Totals{Spend: s, RunsPlanned: max(int64(m.Plan.Runs), s.Runs)})
}
