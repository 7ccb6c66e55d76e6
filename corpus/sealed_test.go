package corpus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sealedSample(t *testing.T) (*Train, *Sealed) {
	t.Helper()
	fsys := sampleFS()
	text := sampleCatalog
	for id, split := range map[string]Split{"sql": Feedback, "html": Holdout, "clean": Pareto} {
		text = strings.Replace(text, `id = "`+id+`"`, `id = "`+id+"\"\nsplit = \""+string(split)+`"`, 1)
	}
	fsys[CatalogFile] = file(text)
	train, sealed, err := Open(fsys, Options{})
	require.NoError(t, err)
	return train, sealed
}

func TestOpenHidesTheHoldout(t *testing.T) {
	train, sealed := sealedSample(t)
	var ids []string
	for _, c := range train.Cases() {
		ids = append(ids, c.ID)
	}
	assert.Equal(t, []string{"sql", "clean"}, ids)
	assert.True(t, train.HasSplit())
	assert.Equal(t, "sample", train.Slice())
	assert.Equal(t, 1, sealed.Count())
	assert.Len(t, sealed.Hash(), 64)
	train.Cases()[0] = nil
	assert.NotNil(t, train.Cases()[0], "the list is a copy")
}

func TestOpenWithoutASplit(t *testing.T) {
	train, sealed, err := Open(manifestFS(sampleManifest), Options{})
	require.NoError(t, err)
	assert.Len(t, train.Cases(), 2)
	assert.False(t, train.HasSplit())
	assert.Zero(t, sealed.Count())
	assert.Empty(t, sealed.Hash())
	log := Openings{filepath.Join(t.TempDir(), "openings.jsonl")}
	cases, err := sealed.Open(log, Opening{Command: "holdout"})
	require.NoError(t, err)
	assert.Empty(t, cases)
	assert.NoFileExists(t, log.Path, "nothing was opened")
	_, _, err = Open(manifestFS("{"), Options{})
	assert.Error(t, err)
}

func TestOpeningIsOnRecordFirst(t *testing.T) {
	_, sealed := sealedSample(t)
	log := Openings{filepath.Join(t.TempDir(), "captures", "openings.jsonl")}
	n, err := log.Count(sealed.Hash())
	require.NoError(t, err)
	assert.Zero(t, n)

	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("CET", 3600))
	cases, err := sealed.Open(log, Opening{Time: at, Holdout: "forged", Command: "holdout", Detector: "d1", Why: "the last word"})
	require.NoError(t, err)
	require.Len(t, cases, 1)
	assert.Equal(t, "html", cases[0].ID)
	data, err := os.ReadFile(log.Path)
	require.NoError(t, err)
	assert.Equal(t, `{"time":"2026-11-30T11:00:00Z","holdout":"`+sealed.Hash()+`","command":"holdout","detector":"d1","why":"the last word"}`+"\n", string(data))

	before := time.Now().Add(-time.Second)
	_, err = sealed.Open(log, Opening{Command: "capture"})
	require.NoError(t, err)
	data, err = os.ReadFile(log.Path)
	require.NoError(t, err)
	var second Opening
	require.NoError(t, json.Unmarshal([]byte(strings.Split(string(data), "\n")[1]), &second))
	assert.True(t, second.Time.After(before))

	n, err = log.Count(sealed.Hash())
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	n, err = log.Count("another holdout")
	require.NoError(t, err)
	assert.Zero(t, n)
}

func TestNoRecordNoCases(t *testing.T) {
	_, sealed := sealedSample(t)
	dir := t.TempDir()
	blocked := filepath.Join(dir, "blocked")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	for name, log := range map[string]Openings{
		"a directory in its place": {dir},
		"a file for a directory":   {filepath.Join(blocked, "openings.jsonl")},
		"no path":                  {""},
	} {
		t.Run(name, func(t *testing.T) {
			cases, err := sealed.Open(log, Opening{Command: "holdout"})
			assert.ErrorIs(t, err, ErrNotRecorded)
			assert.Nil(t, cases)
		})
	}
	t.Run("no command", func(t *testing.T) {
		log := Openings{filepath.Join(dir, "openings.jsonl")}
		cases, err := sealed.Open(log, Opening{Why: "just so"})
		assert.ErrorIs(t, err, ErrNotRecorded)
		assert.Nil(t, cases)
		assert.NoFileExists(t, log.Path)
	})
}

func TestOpeningsFromManySides(t *testing.T) {
	_, sealed := sealedSample(t)
	log := Openings{filepath.Join(t.TempDir(), "openings.jsonl")}
	const writers, each = 8, 5
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				_, err := sealed.Open(log, Opening{Command: "holdout", Why: strings.Repeat("because ", 100)})
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	n, err := log.Count(sealed.Hash())
	require.NoError(t, err)
	assert.Equal(t, writers*each, n)
	data, err := os.ReadFile(log.Path)
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		assert.True(t, json.Valid([]byte(line)) || line == "", line)
	}
}

func TestSpoiltLinesCount(t *testing.T) {
	_, sealed := sealedSample(t)
	log := Openings{filepath.Join(t.TempDir(), "openings.jsonl")}
	require.NoError(t, os.WriteFile(log.Path, []byte("not json\n\n{\"holdout\":\"\"}\n{\"holdout\":\"other\"}\n{\"holdout\":\"torn"), 0o644))
	n, err := log.Count(sealed.Hash())
	require.NoError(t, err)
	assert.Equal(t, 3, n, "the spoilt, the nameless and the torn line")
	_, err = sealed.Open(log, Opening{Command: "holdout"})
	require.NoError(t, err)
	n, err = log.Count(sealed.Hash())
	require.NoError(t, err)
	assert.Equal(t, 4, n, "a torn line must not swallow the next")
}

func TestHoldoutHashIsOfItsCases(t *testing.T) {
	c := load(t, sampleFS())
	for _, k := range c.Cases {
		k.Split = Holdout
	}
	_, all := c.Seal()
	c.Cases[0].Split = Feedback
	_, fewer := c.Seal()
	assert.NotEqual(t, all.Hash(), fewer.Hash())
	assert.NotEqual(t, c.Hash(), all.Hash())
}
