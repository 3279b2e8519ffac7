// Schema 3: users who sign in by e-mail. `people` is the gateway's own directory. A person refers to an identity by its key:
// the person is deleted with the identity, and moves with it when accounts are merged. `mail_links` has the hashes of links
// that were mailed. `outbox` has sealed mails to send; `due` is the time of the next try.

extension Migration {
  static let version3 = Migration(
    version: 3,
    sqlite: [
      """
      CREATE TABLE people (
        id blob PRIMARY KEY NOT NULL,
        email_key text NOT NULL UNIQUE,
        email text NOT NULL,
        password text,
        provider text NOT NULL,
        subject text NOT NULL,
        created integer NOT NULL,
        FOREIGN KEY (provider, subject) REFERENCES identities (provider, subject) ON DELETE CASCADE
      ) STRICT, WITHOUT ROWID
      """,
      "CREATE UNIQUE INDEX people_identity ON people (provider, subject)",
      """
      CREATE TABLE mail_links (
        token_hash blob PRIMARY KEY NOT NULL,
        purpose text NOT NULL,
        email_key text NOT NULL,
        email text NOT NULL,
        name text,
        subject text,
        device text,
        browser_hash blob,
        visit text,
        created integer NOT NULL,
        expires integer NOT NULL,
        spent integer,
        spent_for blob
      ) STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX mail_links_email ON mail_links (email_key, purpose)",
      "CREATE INDEX mail_links_expires ON mail_links (expires)",
      """
      CREATE TABLE outbox (
        id blob PRIMARY KEY NOT NULL,
        sealed text NOT NULL,
        due integer NOT NULL,
        expires integer NOT NULL,
        attempts integer NOT NULL
      ) STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX outbox_due ON outbox (due)",
    ],
    postgresql: [
      """
      CREATE TABLE people (
        id uuid PRIMARY KEY,
        email_key text COLLATE "C" NOT NULL UNIQUE,
        email text NOT NULL,
        password text,
        provider text COLLATE "C" NOT NULL,
        subject text COLLATE "C" NOT NULL,
        created bigint NOT NULL,
        FOREIGN KEY (provider, subject) REFERENCES identities (provider, subject) ON DELETE CASCADE
      )
      """,
      "CREATE UNIQUE INDEX people_identity ON people (provider, subject)",
      """
      CREATE TABLE mail_links (
        token_hash bytea PRIMARY KEY,
        purpose text COLLATE "C" NOT NULL,
        email_key text COLLATE "C" NOT NULL,
        email text NOT NULL,
        name text,
        subject text COLLATE "C",
        device text,
        browser_hash bytea,
        visit text,
        created bigint NOT NULL,
        expires bigint NOT NULL,
        spent bigint,
        spent_for bytea
      )
      """,
      "CREATE INDEX mail_links_email ON mail_links (email_key, purpose)",
      "CREATE INDEX mail_links_expires ON mail_links (expires)",
      """
      CREATE TABLE outbox (
        id uuid PRIMARY KEY,
        sealed text NOT NULL,
        due bigint NOT NULL,
        expires bigint NOT NULL,
        attempts bigint NOT NULL
      )
      """,
      "CREATE INDEX outbox_due ON outbox (due)",
    ])
}
