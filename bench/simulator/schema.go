package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// schema is the part of JSON Schema that tools and response formats use.
type schema struct {
	Type       schemaTypes        `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Enum       []any              `json:"enum"`
	Const      any                `json:"const"`
	AnyOf      []*schema          `json:"anyOf"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
	Minimum    *float64           `json:"minimum"`
	MinItems   int                `json:"minItems"`
	text       string
}

type schemaTypes []string

func (t *schemaTypes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = schemaTypes{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return fmt.Errorf("type must be a string or a list of strings: %w", err)
	}
	*t = many
	return nil
}

func parseSchema(raw json.RawMessage) (*schema, error) {
	s := &schema{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("is not a schema this model can follow: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	s.text = compact.String()
	return s, nil
}

const maxSchemaDepth = 12

// fill makes a value that fits the schema. wanted offers values by property
// name; what it does not name gets the simplest value.
func (s *schema) fill(root *schema, wanted map[string]any, depth int) any {
	if s == nil || depth > maxSchemaDepth {
		return nil
	}
	switch {
	case s.Ref != "":
		return root.resolve(s.Ref).fill(root, wanted, depth+1)
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case len(s.AnyOf) > 0:
		return s.AnyOf[0].fill(root, wanted, depth+1)
	}
	kind := "object"
	if len(s.Type) > 0 {
		kind = s.Type[0]
	}
	switch kind {
	case "object":
		return s.fillObject(root, wanted, depth)
	case "array":
		out := []any{}
		for len(out) < s.MinItems {
			out = append(out, s.Items.fill(root, wanted, depth+1))
		}
		return out
	case "string":
		return ""
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 0
	case "boolean":
		return false
	}
	return nil
}

func (s *schema) resolve(ref string) *schema {
	name := strings.TrimPrefix(ref, "#/$defs/")
	if s.Defs == nil || name == ref {
		return nil
	}
	return s.Defs[name]
}

func (s *schema) fillObject(root *schema, wanted map[string]any, depth int) any {
	out := map[string]any{}
	for _, name := range s.propertyNames() {
		p := s.Properties[name]
		if p != nil && p.Ref != "" {
			p = root.resolve(p.Ref)
		}
		v, offered := wanted[name]
		switch {
		case !offered:
			out[name] = p.fill(root, wanted, depth+1)
		default:
			out[name] = p.fit(root, v, depth+1)
		}
	}
	return out
}

func (s *schema) propertyNames() []string {
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// fit bends an offered value to the schema: lists item by item, anything of
// the wrong kind becomes the simplest value.
func (s *schema) fit(root *schema, v any, depth int) any {
	if s == nil || depth > maxSchemaDepth {
		return v
	}
	if len(s.AnyOf) > 0 {
		return s.AnyOf[0].fit(root, v, depth+1)
	}
	switch v := v.(type) {
	case []map[string]any:
		out := []any{}
		item := s.Items
		if item != nil && item.Ref != "" {
			item = root.resolve(item.Ref)
		}
		for _, one := range v {
			out = append(out, item.fill(root, one, depth+1))
		}
		return out
	case string:
		if len(s.Enum) > 0 && !s.allows(v) {
			return s.Enum[len(s.Enum)-1]
		}
		if s.is("string") {
			return v
		}
	case int, float64:
		if s.is("integer") || s.is("number") {
			return v
		}
		if s.is("string") {
			return fmt.Sprint(v)
		}
	}
	return s.fill(root, nil, depth+1)
}

func (s *schema) allows(v string) bool {
	for _, e := range s.Enum {
		if e == v {
			return true
		}
	}
	return false
}

func (s *schema) is(kind string) bool {
	if len(s.Type) == 0 {
		return true
	}
	for _, t := range s.Type {
		if t == kind {
			return true
		}
	}
	return false
}
