import { assert, describe, it } from "@effect/vitest"
import { isPostgres } from "../../src/args/Addresses.ts"

describe("the address of the database of a cluster", () => {
  it("names a user and a host, with every special character encoded", () => {
    assert.isTrue(isPostgres("postgres://user:pass%25word@host:5432/data%20base?sslmode=require"))
    assert.isTrue(isPostgres("postgresql://user@host/base"))
    for (const text of [
      "postgres://host/database",
      "postgres://",
      "mysql://user@host/database",
      "postgres://user:%zz@host/database",
      "postgres://user:%e4@host/database",
      "postgres://%zz@host/database",
      "postgres://user@host/%zz",
    ]) {
      assert.isFalse(isPostgres(text), text)
    }
  })
})
