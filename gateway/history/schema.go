package history

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring a file from the version that is its place in the list to the next.
// They are never changed, only added to.
var migrations = []string{
	`CREATE TABLE requests (
		n           INTEGER PRIMARY KEY,
		id          INTEGER NOT NULL,
		time        INTEGER NOT NULL, -- unix ms
		agent       TEXT NOT NULL,
		session     TEXT NOT NULL,
		api         TEXT NOT NULL,
		asked       TEXT NOT NULL,
		grp         TEXT NOT NULL,
		provider    TEXT NOT NULL, -- of the last try
		account     TEXT NOT NULL, -- of the last try: provider/name
		model       TEXT NOT NULL, -- of the last try
		effort      TEXT NOT NULL,
		served      TEXT NOT NULL,
		status      INTEGER NOT NULL,
		error       TEXT NOT NULL,
		fail        TEXT NOT NULL, -- of the last try
		tries       TEXT NOT NULL, -- JSON
		input       INTEGER NOT NULL,
		output      INTEGER NOT NULL,
		reasoning   INTEGER NOT NULL,
		cache_read  INTEGER NOT NULL,
		cache_write INTEGER NOT NULL,
		cost        INTEGER, -- millionths of a dollar; NULL = unknown
		ms          INTEGER NOT NULL,
		ttft_ms     INTEGER NOT NULL,
		stream      INTEGER NOT NULL,
		bytes_in    INTEGER NOT NULL,
		bytes_out   INTEGER NOT NULL
	);
	CREATE INDEX requests_id ON requests (id);
	CREATE INDEX requests_time ON requests (time);
	CREATE INDEX requests_agent ON requests (agent, time);
	CREATE INDEX requests_account ON requests (account, time);
	CREATE INDEX requests_model ON requests (model, time);
	CREATE INDEX requests_session ON requests (session, time);`,
	`CREATE TABLE readings (
		n        INTEGER PRIMARY KEY,
		time     INTEGER NOT NULL, -- unix ms
		provider TEXT NOT NULL,
		account  TEXT NOT NULL, -- provider/name
		plan     TEXT NOT NULL,
		balance  TEXT NOT NULL,
		windows  TEXT NOT NULL -- JSON
	);
	CREATE INDEX readings_time ON readings (time);
	CREATE INDEX readings_account ON readings (account, time);`,
}

// migrate brings the file to the newest version, all steps in one transaction. A file
// of a newer magpie is left alone.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	version, fresh, err := version(ctx, tx)
	if err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("the file is of a newer magpie: its schema is %d, this one knows %d", version, len(migrations))
	}
	if version == len(migrations) {
		return nil
	}
	for i, m := range migrations[version:] {
		if _, err := tx.ExecContext(ctx, m); err != nil {
			return fmt.Errorf("bring the schema to %d: %w", version+i+1, err)
		}
	}
	set := `UPDATE schema SET version = ?`
	if fresh {
		set = `INSERT INTO schema (version) VALUES (?)`
	}
	if _, err := tx.ExecContext(ctx, set, len(migrations)); err != nil {
		return fmt.Errorf("note the schema: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit the schema: %w", err)
	}
	return nil
}

// version reads the schema's version; an empty file gets a table for it. A file with
// tables of someone else is not ours to write to.
func version(ctx context.Context, tx *sql.Tx) (v int, fresh bool, err error) {
	var tables, ours int
	err = tx.QueryRowContext(ctx,
		`SELECT count(*), count(CASE WHEN name = 'schema' THEN 1 END) FROM sqlite_schema WHERE type = 'table'`).
		Scan(&tables, &ours)
	if err != nil {
		return 0, false, fmt.Errorf("read the schema: %w", err)
	}
	if ours == 0 {
		if tables > 0 {
			return 0, false, fmt.Errorf("the file is a database, but not magpie's: %d tables, none named schema", tables)
		}
		if _, err := tx.ExecContext(ctx, `CREATE TABLE schema (version INTEGER NOT NULL)`); err != nil {
			return 0, false, fmt.Errorf("make the schema: %w", err)
		}
		return 0, true, nil
	}
	if err := tx.QueryRowContext(ctx, `SELECT version FROM schema`).Scan(&v); err != nil {
		return 0, false, fmt.Errorf("read the schema's version: %w", err)
	}
	return v, false, nil
}
