package route

// order puts each pool into the order of its routing.
func order(*draft) {}
