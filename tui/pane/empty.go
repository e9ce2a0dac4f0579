package pane

import "dev.magpie/tui/canvas"

func noAccounts(c *canvas.Canvas, v *View) {}

func noRequests(c *canvas.Canvas, v *View) {}
