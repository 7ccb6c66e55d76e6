package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is an answer in the documented error shape. All four keys are
// always present, because clients tell "absent" from "null".
type apiError struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.Type, e.Message) }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func invalid(code, param, format string, args ...any) *apiError {
	return &apiError{
		status: http.StatusBadRequest, Type: "invalid_request_error",
		Param: optional(param), Code: optional(code), Message: fmt.Sprintf(format, args...),
	}
}

func missing(param string) *apiError {
	return invalid("missing_required_parameter", param, "Missing required parameter: '%s'.", param)
}

func invalidType(param, want, got string) *apiError {
	return invalid("invalid_type", param, "Invalid type for '%s': expected %s, but got %s instead.", param, want, got)
}

func invalidValue(param, format string, args ...any) *apiError {
	return invalid("invalid_value", param, "Invalid value for '%s': %s", param, fmt.Sprintf(format, args...))
}

func failure(status int, kind, code, format string, args ...any) *apiError {
	return &apiError{status: status, Type: kind, Code: optional(code), Message: fmt.Sprintf(format, args...)}
}

func modelNotFound(id string) *apiError {
	return failure(http.StatusNotFound, "invalid_request_error", "model_not_found",
		"The model `%s` does not exist or you do not have access to it.", id)
}

func contextOverflow(limit, got int) *apiError {
	return invalid("context_length_exceeded", "messages",
		"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", limit, got)
}

func writeError(w http.ResponseWriter, e *apiError) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	if err := json.NewEncoder(w).Encode(map[string]*apiError{"error": e}); err != nil {
		return fmt.Errorf("write error answer %d: %w", e.status, err)
	}
	return nil
}
