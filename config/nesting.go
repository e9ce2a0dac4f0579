package config

import "bytes"

// maxDepth is how deep brackets may stand in each other. A config of ours needs four; the readers take a time that
// grows much faster than the depth.
const maxDepth = 32

// tooDeep returns where a file goes deeper than any config does, nil when it does not. Strings and comments nest nothing.
func tooDeep(data []byte) *broken {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '#':
			i += within(data[i:], []byte("\n"))
		case '"', '\'':
			i += stringEnd(data[i:])
		case '[', '{':
			if depth++; depth > maxDepth {
				return &broken{offset: i, text: "this is nested too deep"}
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return nil
}

// stringEnd is how far behind its first character the string at the beginning of data ends.
func stringEnd(data []byte) int {
	mark := data[:1]
	if three := bytes.Repeat(mark, 3); bytes.HasPrefix(data, three) {
		mark = three
	}
	for i := len(mark); i < len(data); i++ {
		switch {
		case data[i] == '\\' && mark[0] == '"':
			i++
		case bytes.HasPrefix(data[i:], mark):
			return i + len(mark) - 1
		case data[i] == '\n' && len(mark) == 1: // it is broken, and ends here
			return i
		}
	}
	return len(data)
}

// within is how far behind its first character data has end.
func within(data, end []byte) int {
	if i := bytes.Index(data, end); i >= 0 {
		return i
	}
	return len(data)
}
