package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/bench/simulator"
)

func (a *app) simulateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Serve the simulated endpoint",
		Long: `Serve an OpenAI-compatible endpoint with simulated models behind it, until
interrupted. Its answers are a function of the request alone and say nothing about
any real model; everything it says is labelled simulated. GET /-/stats counts calls.`,
		Example: `  youden simulate --addr 127.0.0.1:8377
  youden capture --endpoint http://127.0.0.1:8377/v1 --model sim-weak`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.simulate(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.String("addr", "127.0.0.1:8377", "`HOST:PORT` to listen on; port 0 picks a free one")
	f.StringSlice("profile", nil, "only these profiles; a name or a JSON file")
	f.String("latency", "virtual", "virtual (reported, not slept), real, or a fixed duration such as 50ms")
	f.String("faults", "none", "fault plan: none, flaky, storm or a JSON file")
	f.Bool("cache", false, "report cached tokens of known prompt prefixes")
	f.String("key-env", "", "`NAME` of an environment variable whose value is the only key accepted")
	return cmd
}

func (a *app) simulate(ctx context.Context, s *settings) error {
	opts := simulator.Options{Latency: simulator.LatencyMode(s.string("latency")), Faults: s.string("faults"), Cache: s.bool("cache")}
	for _, p := range s.list("profile") {
		if strings.HasSuffix(p, ".json") {
			opts.ProfileFiles = append(opts.ProfileFiles, p)
		} else {
			opts.Profiles = append(opts.Profiles, p)
		}
	}
	if name := s.string("key-env"); name != "" {
		key, err := redact.FromEnv(name)
		if err != nil {
			return err
		}
		opts.APIKey = key.Reveal()
	}
	handler, err := simulator.New(opts)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.string("addr"))
	if err != nil {
		return fmt.Errorf("listen on --addr %s: %w; choose another port, 0 picks a free one", s.string("addr"), err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(a.out, "simulated endpoint on http://%s/v1 (models: %v)\n", listener.Addr(), simulator.Models())
	a.busy.Store(true)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve the simulated endpoint: %w", err)
	case <-a.stop:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("stop the simulated endpoint: %w", err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
