// Command youden measures LLM bug detectors and improves them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/youden-bench/youden/bench/redact"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// app is what every command shares: where it writes and how it is interrupted.
type app struct {
	out, err io.Writer
	bar      io.Writer       // stderr as it is, for the progress bar
	terminal bool            // stderr is a terminal
	width    int             // of stdout in columns; 0 = unknown
	stop     <-chan struct{} // closed by the first interrupt
	busy     *atomic.Bool    // whether somebody looks at stop
	now      func() time.Time
}

// run executes one command line and returns its exit code. A panic is an
// internal error: it prints what to report and never looks like a result.
func run(args []string, stdout, stderr io.Writer) (code int) {
	clean := redact.NewWriter(stderr)
	defer func() { _ = clean.Close() }() // nothing is left to report a lost stderr to
	out, errOut := &checked{w: stdout}, inert{clean}
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(errOut, "youden: internal error: %v\n%s\nThis is a defect of youden; what was paid for is in the capture's ledger.\n", fault, debug.Stack())
			code = exitInternal
		}
	}()
	busy := &atomic.Bool{}
	ctx, stop, done := interrupts(errOut, busy)
	defer done()
	a := &app{out: out, err: errOut, bar: clean, stop: stop, busy: busy, now: time.Now}
	if f, ok := stderr.(*os.File); ok {
		a.terminal = term.IsTerminal(int(f.Fd()))
	}
	if f, ok := stdout.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			a.width = w
		}
	}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if code := exitCode(err); out.err != nil && code != exitInternal && code != exitInterrupted {
		err = fmt.Errorf("writing the output: %w", out.err) // a verdict that nobody could read is none
	}
	var quiet *exitError
	if err != nil && (!errors.As(err, &quiet) || quiet.err != nil) {
		fmt.Fprintf(errOut, "youden: %v\n", err)
	}
	return exitCode(err)
}

// interrupts turns the first Ctrl-C into a request to stop, which lets the calls
// under way finish, the second into a cancelled context and the third into an
// end. While nobody looks at the request (busy is false) the first one ends the
// process: nothing has been paid for that is not on disk.
func interrupts(w io.Writer, busy *atomic.Bool) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	signals := make(chan os.Signal, 3)
	quit := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup has asked for that
		signal.Notify(signals, syscall.SIGHUP)
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			case <-signals:
			}
			switch {
			case n == 0 && busy.Load():
				fmt.Fprintln(w, "youden: stopping; what is under way may finish, interrupt again to abandon it")
				close(stop)
			case n == 1 && busy.Load():
				cancel()
			default:
				os.Exit(exitInterrupted)
			}
		}
	})
	return ctx, stop, func() {
		signal.Stop(signals)
		close(quit)
		watching.Wait()
		cancel()
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "youden",
		Short: "Measure LLM bug detectors, and improve them",
		Long: `youden plants bugs whose place and family are known, runs a detector K times on
each side against any OpenAI-compatible endpoint, records every step, and scores
each bug family by Youden's J = recall + silence - 1.

With no configuration at all, "youden capture" runs the embedded cases on the
embedded simulated endpoint.`,
		Example: `  youden capture                                  a scored capture, offline
  youden show captures/*                          the tables again
  youden init && youden capture --endpoint NAME --max-cost 1   point it at a real endpoint`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	root.PersistentFlags().String("config", "youden.toml", "configuration `FILE`")
	root.AddCommand(
		a.initCommand(), a.captureCommand(), a.resumeCommand(), a.showCommand(), a.scoreCommand(),
		a.compareCommand(), a.baselineCommand(), a.noiseCommand(), a.powerCommand(), a.exportCommand(),
		a.corpusCommand(), a.detectorCommand(), a.simulateCommand(), a.doctorCommand(),
	)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	return root
}
