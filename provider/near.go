package provider

import "dev.magpie/config"

// nearest returns a suggestion for a word that is not among the valid ones, "" when none is
// close. Askers choose the word, so a long one is not compared at all.
func nearest(word string, valid []string) string {
	const most = 64
	if len(word) > most {
		return ""
	}
	if w := config.Nearest(word, valid); w != "" {
		return " (did you mean " + w + "?)"
	}
	return ""
}
