// Schema 5 adds a table of providers' tokens that must be revoked although their account or identity is gone, a row
// that SQLite overwrites to check for disk space, an index of links by their subject, and one more trigger for SQLite's
// audit.
//
// `due` is the time of the next try. The column `account` is not a foreign key, because the account is already deleted.

import EnrollGateway

extension Migration {
  static let version5 = Migration(
    version: 5,
    sqlite: [
      """
      CREATE TABLE revocations (
        id integer PRIMARY KEY AUTOINCREMENT,
        provider text NOT NULL,
        sealed text NOT NULL,
        account blob NOT NULL,
        due integer NOT NULL,
        expires integer NOT NULL,
        attempts integer NOT NULL
      ) STRICT
      """,
      "CREATE INDEX revocations_due ON revocations (due)",
      """
      CREATE TABLE write_probe (
        id integer PRIMARY KEY CHECK (id = 1),
        at integer NOT NULL,
        room blob NOT NULL
      ) STRICT
      """,
      "CREATE INDEX mail_links_subject ON mail_links (subject) WHERE subject IS NOT NULL",
      // INSERT OR REPLACE deletes a row without firing the triggers of DELETE.
      """
      CREATE TRIGGER audit_is_added_to BEFORE INSERT ON audit
      WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
      BEGIN SELECT RAISE(ABORT, 'an entry of the audit is never changed'); END
      """,
    ],
    postgresql: [
      """
      CREATE TABLE revocations (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        provider text COLLATE "C" NOT NULL,
        sealed text NOT NULL,
        account uuid NOT NULL,
        due bigint NOT NULL,
        expires bigint NOT NULL,
        attempts bigint NOT NULL
      )
      """,
      "CREATE INDEX revocations_due ON revocations (due)",
      "CREATE INDEX mail_links_subject ON mail_links (subject) WHERE subject IS NOT NULL",
    ])
}
