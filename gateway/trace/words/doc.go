// Package words turns the trace's facts into sentences: one short one in plain words
// for each code. Pure: times are passed in, and shown in the zone that now is in.
//
// Names stand for themselves in all of them (account ids, groups, models), so that a
// sentence can be read without the row that it is on.
package words
