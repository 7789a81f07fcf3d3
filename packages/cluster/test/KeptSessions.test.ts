import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { check, SessionNotKept } from "../src/node/KeptSessions.ts"

/** A client whose connections have the first free session, which a pooler takes back after each transaction. */
const client = (isShared: boolean) => {
  let taken = 0
  const connection = {
    executeValues: () => Effect.sync(() => [[isShared ? 1 + taken : 1]]),
  }
  const sql = () => Effect.succeed([])
  const withTransaction = <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => taken++),
      () => self,
      () => Effect.sync(() => taken--),
    )
  return Object.assign(sql, {
    reserve: Effect.succeed(connection),
    withTransaction,
  }) as unknown as SqlClient.SqlClient
}

const checked = (isShared: boolean) =>
  Effect.exit(Effect.provideService(check, SqlClient.SqlClient, client(isShared)))

describe("KeptSessions", () => {
  it.effect("a connection that keeps its session is taken", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* checked(false))._tag, "Success")
    }),
  )

  it.effect("a pooler that shares sessions between transactions is refused", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(yield* checked(true))
      assert.instanceOf(error, SessionNotKept)
    }),
  )
})
