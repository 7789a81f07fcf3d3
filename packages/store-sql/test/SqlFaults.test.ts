import { assert, describe, it } from "@effect/vitest"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { storeError } from "../src/internal/SqlFaults.ts"

const textOf = (code: string, message: string) => {
  const cause = Object.assign(new Error(message), { code })
  return storeError("open", new SqlError({ reason: new UnknownError({ cause }) })).message
}

describe("an error of a database", () => {
  it("says that the database or the schema does not exist, with its name where that is known", () => {
    assert.deepStrictEqual(
      [
        textOf("3D000", 'database "nothing" does not exist'),
        textOf("3D000", "die Datenbank »nothing« existiert nicht"),
        textOf("3F000", 'schema "group_z" does not exist'),
        textOf("3F000", "no schema has been selected to create in"),
      ],
      [
        "the database `nothing` does not exist (3D000)",
        "the database does not exist (3D000)",
        "the schema `group_z` does not exist (3F000)",
        "the schema (`search_path`) does not exist (3F000)",
      ],
    )
  })

  it("says what of its address is wrong", () => {
    const texts = (
      [
        ['Unrecognized sslmode in URL: "x"', 'PgConnection: Unrecognized sslmode in URL: "x"'],
        ["The server does not support TLS", "PgConnection: Server refused TLS"],
        ["Connection closed unexpectedly", "PgConnection: Connection closed during startup"],
      ] as const
    ).map(([cause, message]) => {
      const options = { cause: new Error(cause), message, operation: "connect" }
      const { message: text, reason } = storeError(
        "open",
        new SqlError({ reason: new ConnectionError(options) }),
      )
      return [reason, text]
    })
    assert.deepStrictEqual(texts, [
      [
        "Other",
        'the address of the database is not valid: Unrecognized sslmode in URL: "x" (ConnectionError)',
      ],
      [
        "Other",
        "the server of the database has no TLS, for which its address asks (ConnectionError)",
      ],
      ["Unreachable", "the database cannot be reached (ConnectionError)"],
    ])
    assert.strictEqual(
      textOf("28P01", 'password authentication failed for user "u"'),
      "the database does not accept the user or the password (28P01)",
    )
  })

  it("quotes nothing else of what the database says", () => {
    assert.strictEqual(
      textOf("22P02", 'invalid input syntax for type integer: "secret"'),
      "the database refused the statement (22P02)",
    )
  })
})
