package report

import (
	"github.com/youden-bench/youden/measurements"
	"strconv"
)

func word[T any](title, name string, key bool, of func(T) string) column[T] {
	f := func(r T) cell { return text(of(r)) }
	return column[T]{title: title, name: name, key: key, show: f, raw: f}
}

// hidden is a column for programs only.
func hidden[T any](name string, of func(T) cell) column[T] { return column[T]{name: name, raw: of} }

func hiddenCount[T any](name string, of func(T) int64) column[T] {
	return hidden(name, func(r T) cell { return number(strconv.FormatInt(of(r), 10)) })
}

// visible is a column for people only.
func visible[T any](title string, of func(T) cell) column[T] {
	return column[T]{title: title, show: of}
}

// captureColumns say for programs which capture a row belongs to.
func captureColumns[T any](of func(T) *measurements.Summary) []column[T] {
	col := func(name string, f func(*measurements.Summary) string) column[T] {
		return hidden(name, func(r T) cell { return text(f(of(r))) })
	}
	return []column[T]{
		col("capture", func(s *measurements.Summary) string { return s.ID }),
		col("status", func(s *measurements.Summary) string { return string(s.Status) }),
		col("grade", func(s *measurements.Summary) string { return s.Grade }),
		col("simulated", func(s *measurements.Summary) string { return strconv.FormatBool(s.Simulated) }),
		col("detector", func(s *measurements.Summary) string { return s.Plan.Detector.Name }),
		col("model", func(s *measurements.Summary) string { return s.Plan.Endpoint.Model }),
		col("policy", func(s *measurements.Summary) string { return string(s.Policy) }),
		col("view", func(s *measurements.Summary) string { return string(s.View) }),
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func pointed(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
