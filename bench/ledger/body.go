package ledger

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxBody bounds what a stored body may unpack to, so that a damaged or forged
// ledger cannot fill the memory. Answers are cut at 5 MB (DESIGN section 5).
const maxBody = 64 << 20

// codec compresses bodies. Its methods may be called at the same time.
type codec struct {
	enc      *zstd.Encoder
	dec      *zstd.Decoder
	openings openings
}

func newCodec() (*codec, error) {
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("making a zstd encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBody), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("making a zstd decoder: %w", err)
	}
	return &codec{enc: enc, dec: dec}, nil
}

// pack makes a body out of raw bytes with that SHA-256.
func (c *codec) pack(raw []byte, sha Digest) Body {
	b := Body{SHA: sha, Size: int64(len(raw)), Data: raw}
	var packed []byte
	if at := openingOf(raw); at > 0 {
		// Frames after one another are one stream to any reader of zstd.
		opening := c.openings.packed(c.enc, raw[:at])
		packed = append(make([]byte, 0, len(opening)+len(raw)-at+64), opening...)
		packed = c.enc.EncodeAll(raw[at:], packed)
	} else {
		packed = c.enc.EncodeAll(raw, make([]byte, 0, len(raw)/2+64))
	}
	if len(packed) < len(raw) {
		b.Data, b.Zstd = packed, true
	}
	return b
}

// seedMember is what the draws of a side differ in. A request has its members in the
// order of their names, so that most of it stands before this one.
var seedMember = []byte(`"seed":`)

// shortest is the least opening that is worth remembering.
const shortest = 2 << 10

// openingOf returns the length of the part of a request that its draws share; 0 where
// there is none worth it.
func openingOf(raw []byte) int {
	if len(raw) < shortest {
		return 0
	}
	if at := bytes.LastIndex(raw, seedMember); at >= shortest {
		return at
	}
	return 0
}

// openings are compressed once for all draws that begin with them: that is most of the
// time that a body would take.
type openings struct {
	mu    sync.Mutex
	known map[Digest][]byte
	bytes int
}

// maxOpenings bounds the bytes that are remembered.
const maxOpenings = 2 << 20

func (o *openings) packed(enc *zstd.Encoder, raw []byte) []byte {
	id := Digest(sha256.Sum256(raw))
	packed, ok := o.find(id)
	if !ok {
		packed = enc.EncodeAll(raw, nil)
		o.keep(id, packed)
	}
	return packed
}

func (o *openings) find(id Digest) ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	packed, ok := o.known[id]
	return packed, ok
}

// keep remembers an opening, and forgets all others where they would be too many.
func (o *openings) keep(id Digest, packed []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.known[id]; ok { // by another draw at the same time
		return
	}
	if o.bytes += len(packed); o.known == nil || o.bytes > maxOpenings {
		o.known, o.bytes = map[Digest][]byte{}, len(packed)
	}
	o.known[id] = packed
}

// unpack returns the raw bytes after checking that they are the ones that were
// stored.
func (c *codec) unpack(b Body) ([]byte, error) {
	raw := b.Data
	if b.Zstd {
		var err error
		if raw, err = c.dec.DecodeAll(b.Data, make([]byte, 0, min(b.Size, maxBody))); err != nil {
			return nil, fmt.Errorf("the stored body %s does not unpack: %w: the ledger is damaged", b.SHA, err)
		}
	}
	if Digest(sha256.Sum256(raw)) != b.SHA {
		return nil, fmt.Errorf("the stored body %s has other bytes than when it was written: the ledger was damaged or changed", b.SHA)
	}
	return raw, nil
}

func (c *codec) close() {
	// EncodeAll leaves nothing behind to flush, so there is no error to see.
	_ = c.enc.Close()
	c.dec.Close()
}
