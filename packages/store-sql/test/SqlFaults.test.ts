import { assert, describe, it } from "@effect/vitest"
import { SqlError, UnknownError } from "effect/sql/SqlError"
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

  it("quotes nothing else of what the database says", () => {
    assert.strictEqual(
      textOf("22P02", 'invalid input syntax for type integer: "secret"'),
      "the database refused the statement (22P02)",
    )
  })
})
