package doctor

import (
	"context"

	"github.com/youden-bench/youden/measurements"
)

// sampling asks what temperature and seed do: two answers at temperature 0 of two
// seeds, and three at temperature 1, two of them of one seed. It returns the first.
func (e *exam) sampling(ctx context.Context) *reply {
	sample := func(temperature float64, seed int) *reply {
		return e.ask(ctx, "temperature and seed", openPrompt, answerTokens, fields{"temperature": temperature, "seed": seed})
	}
	cold, coldOther := sample(0, 7), sample(0, 8)
	warm, warmAgain, warmOther := sample(1, 7), sample(1, 7), sample(1, 8)
	for _, r := range []*reply{cold, coldOther, warm, warmAgain, warmOther} {
		if !r.ok() {
			e.samplingFailed(ctx, r)
			return cold
		}
	}
	varies := warm.said() != warmOther.said()
	noisy := cold.said() != coldOther.said()
	switch {
	case !noisy && varies:
		e.note("temperature", measurements.Honoured, "at 0 two seeds give one answer, at 1 two")
	case noisy && cold.said() == warm.said() && coldOther.said() == warmOther.said():
		e.note("temperature", measurements.Ignored, "each of two seeds gives its answer at 0 and at 1 alike")
	case noisy:
		e.note("temperature", measurements.Accepted, "at 0 two seeds give two answers: it is dropped, or the server is noisy")
		e.advise("temperature 0 does not make answers repeat: runs of a case differ whatever you set")
	default:
		e.note("temperature", measurements.Accepted, "at 0 and at 1 two seeds give one answer: no effect was seen")
	}
	switch {
	case warm.said() != warmAgain.said():
		e.note("seed", measurements.Ignored, "at temperature 1 one seed gave two answers")
	case varies:
		e.note("seed", measurements.Honoured, "at temperature 1 one seed gave one answer twice, another seed another")
	default:
		e.note("seed", measurements.Accepted, "at temperature 1 every seed gave one answer: no effect was seen")
		e.advise("answers do not vary with the seed at temperature 1: K runs may be one answer K times (a cache?)")
	}
	return cold
}

// said is what is compared of an answer.
func (r *reply) said() string { return r.content + "\x00" + r.finish }

// samplingFailed tells which of the two fields the endpoint does not take.
func (e *exam) samplingFailed(ctx context.Context, r *reply) {
	if !r.refused() {
		e.unanswered("temperature", r)
		e.unanswered("seed", r)
		return
	}
	for _, field := range []fields{{"temperature": 0}, {"seed": 7}} {
		for name := range field {
			one := e.ask(ctx, name, tinyPrompt, oneToken, field)
			if !one.ok() {
				e.unanswered(name, one)
				if one.refused() && name == "temperature" {
					e.advise("the endpoint takes no temperature: it is an effective parameter that cannot be set here")
				}
				continue
			}
			e.note(name, measurements.Accepted, "it is taken alone; its effect was not seen")
		}
	}
}
