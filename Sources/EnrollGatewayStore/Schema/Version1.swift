// Schema 1: accounts, the identities by which people sign in, their sessions, and the one-time codes of apps. Times are whole
// seconds since 1970. Ids are UUIDs as 16 bytes. Of tokens and codes only the SHA-256 is stored.
//
// `sessions.expires` is the earlier of both ends, so that one comparison says whether a session lives, and one index finds
// what has ended. Sessions and codes name the identity without a foreign key: one that is gone matches no row, and nobody is
// signed in by it.

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
