package simulator

import (
	"net/http"
	"sort"
	"strings"
)

type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func newModelObject(id string) modelObject {
	return modelObject{ID: id, Object: "model", Created: created, OwnedBy: "simulated"}
}

func (s *Server) listModels(w http.ResponseWriter) error {
	list := struct {
		Object string        `json:"object"`
		Data   []modelObject `json:"data"`
	}{Object: "list", Data: []modelObject{}}
	names := make([]string, 0, len(s.profiles))
	for name := range s.profiles {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		list.Data = append(list.Data, newModelObject(name))
	}
	return writeJSON(w, list)
}

func (s *Server) getModel(w http.ResponseWriter, path string) error {
	id := strings.TrimPrefix(path, "/v1/models/")
	if _, ok := s.profiles[id]; !ok {
		return writeError(w, modelNotFound(id))
	}
	return writeJSON(w, newModelObject(id))
}
