package route

// fit marks keys that are made for another API than the best of their pool.
func fit(*draft) {}

// asideLast moves a group's aside keys behind all its others.
func asideLast(d *draft) {
	if d.c.Target.Group != nil {
		d.split(func(t *seat) bool { return !t.aside })
	}
}
