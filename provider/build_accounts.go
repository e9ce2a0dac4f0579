package provider

import (
	"strconv"

	"dev.magpie/config"
	"dev.magpie/gateway/wire"
)

// accounts makes the provider's keys, then its accounts, else itself as the one to ask.
func (b *builder) accounts(p *Provider, cp *config.Provider, preset *Preset) {
	for i := range cp.Keys {
		k := key(&cp.Keys[i], i)
		switch {
		case p.ReadOnly != "":
			k.Unready = "provider " + p.ID + " shows what programs are signed in to, and takes no key: put accounts in the place of keys"
		case p.Program != "":
			k.Unready = "provider " + p.ID + " is the " + p.Program + " program's sign-in, which takes no key: put accounts in the place of keys"
		}
		k.Lane = lane(cp, nil)
		b.add(p, k, cp.Keys[i].Pos)
	}
	for i := range cp.Accounts {
		a := signedIn(p.ID, preset, &cp.Accounts[i], i)
		a.Lane = lane(cp, cp.Accounts[i].MaxConcurrency)
		b.add(p, a, cp.Accounts[i].Pos)
	}
	if len(p.Accounts) > 0 {
		return
	}
	alone := &Account{Name: p.ID, Kind: KindProvider, Weight: 1, Lane: lane(cp, nil)}
	switch {
	case preset != nil && preset.Kind == Subscription:
		alone.Unready = "provider " + p.ID + " has no account: add one under accounts in [providers." + p.ID + "]"
	case !p.KeyOptional && !p.Local:
		alone.Unready = noKey(p.ID, preset)
	}
	b.add(p, alone, cp.Pos)
}

func noKey(id string, preset *Preset) string {
	example := `{ env = "…" }`
	if preset != nil && len(preset.Env) > 0 {
		example = `{ env = "` + preset.Env[0] + `" }`
	}
	return "provider " + id + " has no key: add one to [providers." + id + "], such as keys = [" + example + "]"
}

// add puts the account at its place and under its id.
func (b *builder) add(p *Provider, a *Account, at config.Pos) {
	a.Provider = p.ID
	a.ID = AccountID(p.ID)
	if a.Kind != KindProvider {
		a.ID = AccountID(p.ID + "/" + a.Name)
	}
	if p.Account(a.Name) != nil {
		b.problem(at, "provider "+p.ID+" has two keys or accounts named "+quote(a.Name), "give each a name of its own")
		return
	}
	a.Place = b.places
	b.places++
	p.Accounts = append(p.Accounts, a)
}

func key(k *config.Key, place int) *Account {
	name := k.Name
	if name == "" {
		name = "key" + strconv.Itoa(place+1)
	}
	return &Account{
		Name: name, Kind: KindKey,
		Secret:   SecretSource{Value: k.Value, Env: k.Env, File: k.File, Command: k.Command},
		Protocol: wire.Protocol(k.Protocol), Models: k.Models,
		Weight: max(k.Weight, 1), Proxy: k.Proxy, Off: k.Off,
	}
}

// lane is how many requests an account takes: its own number at once goes before its provider's.
func lane(cp *config.Provider, own *int) Lane {
	l := Lane{RPM: cp.MaxRPM, Queue: cp.QueueLimit, Wait: cp.QueueWait}
	switch {
	case own != nil:
		l.Busy = *own
	case cp.MaxConcurrency != nil:
		l.Busy = *cp.MaxConcurrency
	}
	return l
}

// signedIn is an account that a program is signed in to. Whose program that is, the preset says.
func signedIn(provider string, preset *Preset, a *config.Account, place int) *Account {
	name := a.Name
	if name == "" {
		name = "account" + strconv.Itoa(place+1)
	}
	out := &Account{
		Name: name, Kind: KindAccount, Models: a.Models, Weight: 1,
		Proxy: a.Proxy, Off: a.Off, Home: a.Home,
		Cap: a.Cap, Caps: a.WindowCaps, Credits: a.Credits == nil || *a.Credits, Resets: a.AutoReset,
	}
	if preset == nil || preset.Kind != Subscription {
		out.Unready = "account " + provider + "/" + name + " is a program's sign-in, and " + provider + " has none that can be used: give it a key"
	}
	return out
}
