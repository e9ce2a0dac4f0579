package main

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
)

// healthTime is how long a gateway that is well may take to say so.
const healthTime = 5 * time.Second

func (p *process) healthCommand(o *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck",
		Short: "Exit with 0 when the gateway serves, 1 when it does not, 3 when none runs",
		Args:  arguments(0, 0, ""),
		RunE: p.interruptible(func(ctx context.Context, _ []string) error {
			addr := p.address(o.listen)
			if _, err := p.probe(ctx, addr); err != nil {
				return absent(ctx, addr, err)
			}
			ctx, cancel := context.WithTimeout(ctx, healthTime)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, client.Base(addr)+"/healthz", http.NoBody)
			if err != nil {
				return err
			}
			t := &http.Transport{DisableKeepAlives: true}
			resp, err := t.RoundTrip(req)
			if err != nil {
				return failed("the gateway at %s does not say how it is: %s", addr, err)
			}
			if err := resp.Body.Close(); err != nil {
				return err
			}
			if resp.StatusCode != http.StatusOK {
				return failed("the gateway at %s is shutting down", addr)
			}
			return nil
		}),
	}
}
