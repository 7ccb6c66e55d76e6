// Package doctor asks an endpoint what it does with the fields of a request, before
// a measurement relies on them.
//
// It is opinionated about what counts as an answer. A field is honoured only when
// its effect was seen in what came back: a server that answers 200 may have dropped
// the temperature, the seed, the token limit or the schema without a word, and a
// measurement would never know (spec/endpoints.md section 3.3). What could not be
// seen is called accepted, and what was not asked is unknown. It makes few calls,
// says before how many and what they may cost, retries nothing, and stops asking a
// stranger's endpoint that honours no token limit.
//
// Its calls are no measurement and are in no ledger; the record is the evidence.
package doctor
