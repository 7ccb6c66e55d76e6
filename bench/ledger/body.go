package ledger

import (
	"crypto/sha256"
	"fmt"
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// maxBody bounds what a stored body may unpack to, so that a damaged or forged
// ledger cannot fill the memory. Answers are cut at 5 MB (DESIGN section 5).
const maxBody = 64 << 20

// codec compresses bodies. Its methods may be called at the same time.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
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
	if packed := c.enc.EncodeAll(raw, make([]byte, 0, len(raw)/2+64)); len(packed) < len(raw) {
		b.Data, b.Zstd = packed, true
	}
	return b
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
