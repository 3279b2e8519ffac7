// Schema 4: the audit, which is append-only, and the counters of rate limits.
//
// Triggers refuse every change of an audit entry, and its deletion before it is 30 days old by the database's
// clock. The account is not a foreign key, so entries stay when the account is deleted. Counters need no
// durable writes: in PostgreSQL their table is unlogged, so after a crash of the server all buckets are full.

import EnrollGateway

extension Migration {
  /// The age in seconds below which no audit entry is deleted.
  static let youngestSeconds = AuditRetention.shortestDays * 86_400

  static let version4 = Migration(
    version: 4,
    sqlite: [
      """
      CREATE TABLE audit (
        id integer PRIMARY KEY AUTOINCREMENT,
        at integer NOT NULL,
        event text NOT NULL,
        outcome text NOT NULL,
        account blob,
        detail text,
        address text,
        request text
      ) STRICT
      """,
      "CREATE INDEX audit_account ON audit (account, id) WHERE account IS NOT NULL",
      "CREATE INDEX audit_at ON audit (at)",
      """
      CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
      BEGIN SELECT RAISE(ABORT, 'an entry of the audit is never changed'); END
      """,
      """
      CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
      WHEN OLD.at > CAST(strftime('%s', 'now') AS integer) - \(youngestSeconds)
      BEGIN SELECT RAISE(ABORT, 'an entry of the audit stays for \(AuditRetention.shortestDays) days'); END
      """,
      """
      CREATE TABLE limit_counters (
        key blob PRIMARY KEY,
        full_at integer NOT NULL
      ) STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX limit_counters_full_at ON limit_counters (full_at)",
      "CREATE INDEX identities_email ON identities (lower(email)) WHERE email IS NOT NULL",
    ],
    postgresql: [
      """
      CREATE TABLE audit (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at bigint NOT NULL,
        event text NOT NULL,
        outcome text NOT NULL,
        account uuid,
        detail text,
        address text,
        request text
      )
      """,
      "CREATE INDEX audit_account ON audit (account, id) WHERE account IS NOT NULL",
      "CREATE INDEX audit_at ON audit (at)",
      """
      CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'DELETE' AND OLD.at <= extract(epoch FROM clock_timestamp()) - \(youngestSeconds) THEN
          RETURN OLD;
        END IF;
        RAISE EXCEPTION 'an entry of the audit is never changed, and stays for \(AuditRetention.shortestDays) days';
      END $$
      """,
      """
      CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit
      FOR EACH ROW EXECUTE FUNCTION audit_stays()
      """,
      """
      CREATE TRIGGER audit_is_kept BEFORE TRUNCATE ON audit
      FOR EACH STATEMENT EXECUTE FUNCTION audit_stays()
      """,
      """
      CREATE UNLOGGED TABLE limit_counters (
        key bytea PRIMARY KEY,
        full_at bigint NOT NULL
      )
      """,
      "CREATE INDEX limit_counters_full_at ON limit_counters (full_at)",
      "CREATE INDEX identities_email ON identities (lower(email)) WHERE email IS NOT NULL",
    ])
}
