package measurements

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
)

// Append adds the rows in a compact form to b, for whoever keeps many of them
// outside the memory. It is no format of files: Unpack of the same program reads it.
func (r *Rows) Append(b []byte) []byte { return pack(b, reflect.ValueOf(r).Elem()) }

// Unpack reads what Append wrote. The texts of the result share one copy of packed.
func (r *Rows) Unpack(packed []byte) error {
	in := unpacker{left: string(packed)}
	in.value(reflect.ValueOf(r).Elem())
	if in.err == nil && in.left != "" {
		in.err = fmt.Errorf("%d bytes are left", len(in.left))
	}
	if in.err != nil {
		return fmt.Errorf("reading packed rows: %w", in.err)
	}
	return nil
}

var timeType = reflect.TypeFor[time.Time]()

// pack writes a value by its kind. Nil differs from zero and from empty: in a row
// it means unknown.
func pack(b []byte, v reflect.Value) []byte {
	if v.Type() == timeType {
		return binary.AppendVarint(b, v.Interface().(time.Time).UnixNano())
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			b = pack(b, v.Field(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		b = pack(append(b, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		for i := range v.Len() {
			b = pack(b, v.Index(i))
		}
	case reflect.String:
		b = append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case reflect.Int64:
		b = binary.AppendVarint(b, v.Int())
	case reflect.Float64:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.Bool:
		b = append(b, byte(count(v.Bool())))
	default: // a kind of column that is new in records.go; its test fails
		panic(fmt.Sprintf("rows with a %s cannot be packed", v.Type()))
	}
	return b
}

var errCut = errors.New("they are cut or damaged")

// unpacker reads values from what is left.
type unpacker struct {
	left string
	err  error
}

// take returns the next n bytes, or none.
func (u *unpacker) take(n uint64) string {
	if n > uint64(len(u.left)) {
		u.left, u.err = "", errCut
		return ""
	}
	taken := u.left[:n]
	u.left = u.left[n:]
	return taken
}

func (u *unpacker) number() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := u.take(1)
		if b == "" {
			return 0
		}
		n |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return n
		}
	}
	u.err = errCut
	return 0
}

func (u *unpacker) signed() int64 {
	n := u.number()
	return int64(n>>1) ^ -int64(n&1) //nolint:gosec // zigzag, as encoding/binary has it
}

func (u *unpacker) value(v reflect.Value) {
	if v.Type() == timeType {
		v.Set(reflect.ValueOf(time.Unix(0, u.signed()).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField() && u.err == nil; i++ {
			u.value(v.Field(i))
		}
	case reflect.Pointer:
		v.SetZero()
		if u.take(1) == "\x01" {
			v.Set(reflect.New(v.Type().Elem()))
			u.value(v.Elem())
		}
	case reflect.Slice:
		u.list(v)
	case reflect.String:
		v.SetString(u.take(u.number()))
	case reflect.Int64:
		v.SetInt(u.signed())
	case reflect.Float64:
		if b := u.take(8); b != "" {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64([]byte(b))))
		}
	case reflect.Bool:
		v.SetBool(u.take(1) == "\x01")
	default:
		u.err = fmt.Errorf("a %s cannot be packed", v.Type())
	}
}

func (u *unpacker) list(v reflect.Value) {
	v.SetZero()
	n := u.number()
	if n == 0 || u.err != nil {
		return
	}
	n--
	if n > uint64(len(u.left)) { // an element has a byte at least
		u.err = errCut
		return
	}
	list := reflect.MakeSlice(v.Type(), int(n), int(n))
	for i := 0; i < int(n) && u.err == nil; i++ {
		u.value(list.Index(i))
	}
	v.Set(list)
}
