package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

const eventLimit = 16 << 20

var (
	errSilent = errors.New("nothing was heard for " + silence.String())
	errEnded  = errors.New("the gateway ended the connection")
	errLarge  = errors.New("an event is too large")
)

// event is one server-sent event.
type event struct {
	name string
	id   string
	data []byte // until the next one is read
}

// connection is one stream of events.
type connection struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	alarm  *time.Timer
	body   io.ReadCloser
	lines  *bufio.Reader
	data   []byte
}

func (c *connection) read(body io.ReadCloser) {
	c.body, c.lines = body, bufio.NewReaderSize(body, 64<<10)
}

func (c *connection) close() {
	c.alarm.Stop()
	c.cancel(nil)
	if c.body != nil {
		_ = c.body.Close()
	}
}

// rest reads what an answer says that is no stream.
func (c *connection) rest() []byte {
	b, _ := io.ReadAll(io.LimitReader(c.lines, probeLimit))
	return b
}

// why says what ended the connection, where we did it ourselves.
func (c *connection) why(err error) error {
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errEnded
	}
	return err
}

// next reads an event; comments only show that the gateway is there.
func (c *connection) next() (event, error) {
	var e event
	c.data = c.data[:0]
	some := false
	for {
		line, err := c.line()
		if err != nil {
			return event{}, err
		}
		c.alarm.Reset(silence)
		if len(line) == 0 {
			if some {
				e.data = c.data
				return e, nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.name, some = string(value), true
		case "id":
			e.id = string(value)
		case "data":
			if len(c.data)+len(value) > eventLimit {
				return event{}, errLarge
			}
			if some && len(c.data) > 0 {
				c.data = append(c.data, '\n')
			}
			c.data, some = append(c.data, value...), true
		}
	}
}

// line reads one line without its end. It is the reader's until the next.
func (c *connection) line() ([]byte, error) {
	line, err := c.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = c.long(bytes.Clone(line))
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

func (c *connection) long(line []byte) ([]byte, error) {
	for len(line) <= eventLimit {
		more, err := c.lines.ReadSlice('\n')
		line = append(line, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return nil, errLarge
}
