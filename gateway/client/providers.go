package client

import (
	"context"
	"net/url"

	"dev.magpie/gateway/trace"
)

// Providers lists the vendors' entries, without secrets.
func (c *Client) Providers(ctx context.Context) ([]trace.Provider, error) {
	var r struct {
		Providers []trace.Provider `json:"providers"`
	}
	err := c.get(ctx, "/v1/magpie/providers", nil, &r)
	return r.Providers, err
}

func ofProvider(id string) url.Values { return url.Values{"provider": {id}} }

// Models lists a provider's models as they are known.
func (c *Client) Models(ctx context.Context, provider string) (trace.Models, error) {
	var m trace.Models
	err := c.get(ctx, "/v1/magpie/provider/models", ofProvider(provider), &m)
	return m, err
}

// FetchModels has the gateway ask the vendor for its models, and lists them.
func (c *Client) FetchModels(ctx context.Context, provider string) (trace.Models, error) {
	var m trace.Models
	err := c.post(ctx, "/v1/magpie/provider/models?"+ofProvider(provider).Encode(), struct{}{}, &m)
	return m, err
}

// Test has the gateway ask the vendor for its models with each of the provider's keys.
func (c *Client) Test(ctx context.Context, provider string) ([]trace.KeyTest, error) {
	var r struct {
		Tests []trace.KeyTest `json:"tests"`
	}
	err := c.post(ctx, "/v1/magpie/provider/test?"+ofProvider(provider).Encode(), struct{}{}, &r)
	return r.Tests, err
}
