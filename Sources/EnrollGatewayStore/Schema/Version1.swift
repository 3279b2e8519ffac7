// Schema 1: accounts, the identities with which users sign in, their sessions, and the one-time codes of apps. Times are whole
// seconds since 1970. Ids are UUIDs as 16 bytes. Only the SHA-256 of tokens and codes is stored.
//
// `sessions.expires` is the earlier of the idle end and the absolute end, so that one comparison shows whether a
// session is live, and one index finds expired sessions. Sessions and codes name their identity without a foreign key:
// queries join the identity, so a session whose identity is gone signs nobody in.

extension Migration {
  static let version1 = Migration(
    version: 1,
    sqlite: [
      """
      CREATE TABLE accounts (
        id blob PRIMARY KEY,
        created integer NOT NULL,
        last_login integer NOT NULL
      ) STRICT, WITHOUT ROWID
      """,
      """
      CREATE TABLE identities (
        provider text NOT NULL,
        subject text NOT NULL,
        account blob NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        email text,
        email_verified integer NOT NULL,
        name text,
        created integer NOT NULL,
        last_login integer NOT NULL,
        PRIMARY KEY (provider, subject)
      ) STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX identities_account ON identities (account)",
      """
      CREATE TABLE sessions (
        token_hash blob PRIMARY KEY NOT NULL,
        id blob NOT NULL UNIQUE,
        account blob NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        provider text NOT NULL,
        subject text NOT NULL,
        app text,
        device text,
        created integer NOT NULL,
        last_seen integer NOT NULL,
        idle_seconds integer NOT NULL,
        absolute_expires integer NOT NULL,
        expires integer NOT NULL
      ) STRICT
      """,
      "CREATE INDEX sessions_account ON sessions (account)",
      "CREATE INDEX sessions_expires ON sessions (expires)",
      """
      CREATE TABLE app_codes (
        code_hash blob PRIMARY KEY,
        account blob NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        provider text NOT NULL,
        subject text NOT NULL,
        app text NOT NULL,
        challenge text NOT NULL,
        expires integer NOT NULL,
        spent integer,
        session_hash blob
      ) STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX app_codes_account ON app_codes (account)",
      "CREATE INDEX app_codes_expires ON app_codes (expires)",
    ],
    postgresql: [
      """
      CREATE TABLE accounts (
        id uuid PRIMARY KEY,
        created bigint NOT NULL,
        last_login bigint NOT NULL
      )
      """,
      """
      CREATE TABLE identities (
        provider text COLLATE "C" NOT NULL,
        subject text COLLATE "C" NOT NULL,
        account uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        email text,
        email_verified boolean NOT NULL,
        name text,
        created bigint NOT NULL,
        last_login bigint NOT NULL,
        PRIMARY KEY (provider, subject)
      )
      """,
      "CREATE INDEX identities_account ON identities (account)",
      """
      CREATE TABLE sessions (
        token_hash bytea PRIMARY KEY,
        id uuid NOT NULL UNIQUE,
        account uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        provider text COLLATE "C" NOT NULL,
        subject text COLLATE "C" NOT NULL,
        app text,
        device text,
        created bigint NOT NULL,
        last_seen bigint NOT NULL,
        idle_seconds bigint NOT NULL,
        absolute_expires bigint NOT NULL,
        expires bigint NOT NULL
      )
      """,
      "CREATE INDEX sessions_account ON sessions (account)",
      "CREATE INDEX sessions_expires ON sessions (expires)",
      """
      CREATE TABLE app_codes (
        code_hash bytea PRIMARY KEY,
        account uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        provider text COLLATE "C" NOT NULL,
        subject text COLLATE "C" NOT NULL,
        app text NOT NULL,
        challenge text NOT NULL,
        expires bigint NOT NULL,
        spent bigint,
        session_hash bytea
      )
      """,
      "CREATE INDEX app_codes_account ON app_codes (account)",
      "CREATE INDEX app_codes_expires ON app_codes (expires)",
    ])
}
