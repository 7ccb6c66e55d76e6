package simulator

import (
	"encoding/json"
	"fmt"
)

func (q *chatRequest) readTools(f fields) *apiError {
	var list []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if err := f.read("tools", "tools", "an array of objects", &list); err != nil {
		return err
	}
	for i, t := range list {
		switch {
		case t.Type == "":
			return missing(fmt.Sprintf("tools[%d].type", i))
		case t.Type != "function":
			return invalidValue(fmt.Sprintf("tools[%d].type", i), "tools of type %q are not supported by this model.", t.Type)
		case t.Function.Name == "":
			return missing(fmt.Sprintf("tools[%d].function.name", i))
		}
		s := &schema{Type: schemaTypes{"object"}}
		if len(t.Function.Parameters) > 0 {
			var err error
			if s, err = parseSchema(t.Function.Parameters); err != nil {
				return invalidValue(fmt.Sprintf("tools[%d].function.parameters", i), "%v", err)
			}
		}
		q.tools = append(q.tools, tool{t.Function.Name, t.Function.Description, s})
	}
	return q.readToolChoice(f)
}

func (q *chatRequest) readToolChoice(f fields) *apiError {
	q.toolChoice.mode = "none"
	if len(q.tools) > 0 {
		q.toolChoice.mode = "auto"
	}
	if !f.has("tool_choice") {
		return nil
	}
	if json.Unmarshal(f["tool_choice"], &q.toolChoice.mode) != nil {
		var named struct {
			Type     string `json:"type"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		}
		if err := f.read("tool_choice", "tool_choice", "a string or an object", &named); err != nil {
			return err
		}
		if named.Type != "function" {
			return invalidValue("tool_choice.type", "%q is not function.", named.Type)
		}
		q.toolChoice = toolChoice{mode: "named", name: named.Function.Name}
	}
	switch q.toolChoice.mode {
	case "none":
		return nil
	case "auto", "required":
	case "named":
		if q.tool(q.toolChoice.name) == nil {
			return invalidValue("tool_choice", "no tool is called %q.", q.toolChoice.name)
		}
	default:
		return invalidValue("tool_choice", "%q is none of none, auto, required.", q.toolChoice.mode)
	}
	if len(q.tools) == 0 {
		return invalidValue("tool_choice", "is only allowed when 'tools' are given.")
	}
	return nil
}

func (q *chatRequest) tool(name string) *tool {
	for i := range q.tools {
		if q.tools[i].name == name {
			return &q.tools[i]
		}
	}
	return nil
}
