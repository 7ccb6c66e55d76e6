package stats

// Permuted is the max-T permutation test of families for a drop.
type Permuted struct {
	Families []FamilyP // as they were given; P is adjusted for all families tested
	Cases    int       // of the families tested
	Draws    int
	Smallest float64 // the smallest p that so many draws can give
	Warnings []string
}

// MaxTDraws is the default number of permutations.
const MaxTDraws = 10_000

// MaxT asks of each family whether its drop stands out from what any family
// would show if cases had been dealt to families by chance (test P of
// spec/statistics.md section 1). The statistic is -sum d / sqrt n; p is
// (1 + #{largest statistic of a deal >= the family's})/(1 + B), single-step,
// hence already family-wise. Families of fewer than 3 cases take no part, and
// neither do their cases, unless they are bystanders: these are dealt and not
// tested. A drop that all families share is invisible here: that is the overall
// test's to find. It is nil without a case, without a draw, and with a difference
// outside [-2, 2].
func MaxT(families []Family, draws int, seed uint64) *Permuted {
	if draws < 1 {
		return nil
	}
	p := Permuted{Draws: draws, Smallest: 1 / float64(draws+1)}
	d := deal{}
	cases := 0
	for _, f := range families {
		if !differences(f.D) {
			return nil
		}
		cases += len(f.D)
		out := FamilyP{Name: f.Name, Cases: len(f.D)}
		if len(f.D) < MinFamily {
			out.Warnings = append(out.Warnings, "fewer than 3 cases: shown, not tested")
		}
		if f.dealt() {
			d.add(f)
		}
		p.Families = append(p.Families, out)
	}
	if cases == 0 {
		return nil
	}
	p.Cases = len(d.places)
	if len(d.roots) < 2 {
		p.Warnings = append(p.Warnings, "fewer than two families of 3 cases: none stands out from others")
		return &p
	}
	counts := d.exceed(draws, seed)
	dealt := 0
	for i := range p.Families {
		if !families[i].dealt() {
			continue
		}
		if !families[i].Bystander {
			adjusted := float64(1+counts[dealt]) / float64(1+draws)
			p.Families[i].P = &adjusted
		}
		dealt++
	}
	return &p
}
