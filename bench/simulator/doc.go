// Package simulator is an OpenAI-compatible endpoint with simulated models
// behind it.
//
// It is opinionated about three things. First, an answer is a pure function of
// the request body and the profile: no clock, no counter and no order of
// arrival can change a byte of it, so a capture can be repeated anywhere.
// Second, a simulated detector sees what a real model would see, the messages
// and nothing else: it reads code lexically (sinks, sources, identifier flow,
// guards, and what one function lacks that its neighbours have), reads the
// prompt for what it asks the reader to do, and adds noise whose size is a
// constant of the profile. Third, everything it says is
// labelled simulated: model ids start with sim-, owned_by is "simulated", the
// fingerprint is that of the profile and every answer carries X-Simulated.
//
// It proves plumbing, statistics and search logic. It says nothing about how a
// real model audits code: all effect sizes are choices, written down in
// profiles/, lexicon.json, skills.json and clauses.json, which the fingerprint
// covers (spec/endpoints.md 4.2 to 4.5).
package simulator
