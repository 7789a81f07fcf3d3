/**
 * The matrix of principals: every method of a dialect, sent by one principal about what belongs to another one. A method is
 * answered as if the ids were unknown, nothing that the intruder receives names them, and the owner notices nothing.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import type { Harness } from "../support/Harness.ts"
import { pathOf } from "../support/PathStore.ts"
import type { WireMessage } from "../support/Wire.ts"

/** What the owner has, by the names that a client can send. */
export interface Ids {
  readonly conversation: string
  readonly path: string
  readonly task: string
  /** A subscription, a login: whatever has a UUID and belongs to a connection. */
  readonly other: string
  /** Id of a request of the owner that is being served. */
  readonly request: unknown
}

export const unknownIds: Ids = {
  conversation: "00000000-0000-4000-8000-000000000000",
  path: pathOf("00000000-0000-4000-8000-000000000000"),
  task: "task-that-never-was",
  other: "00000000-0000-4000-8000-000000000001",
  request: "none",
}

type Params = Readonly<Record<string, unknown>>

/** The params of a method that names what the owner has, or that names nothing. */
type Attempt = (ids: Ids) => Params

/** The attempts for every method, by its name; several where it can name several things. */
export type Attempts<Name extends string = string> = {
  readonly [N in Name]: ReadonlyArray<Attempt>
}

/** One row of the matrix. */
export interface Row {
  readonly method: string
  readonly attempt: Attempt
  readonly name: string
}

export const rowsOf = (attempts: Attempts): ReadonlyArray<Row> =>
  Object.entries(attempts).flatMap(([method, ways]) =>
    ways.map((attempt) => ({
      method,
      attempt,
      name: `${method} ${JSON.stringify(attempt(unknownIds))}`,
    })),
  )

/** True for a row whose params name something of the owner. */
export const names = ({ attempt }: Row, owned: Ids): boolean =>
  JSON.stringify(attempt(owned)) !== JSON.stringify(attempt(unknownIds))

/** How a client of the dialect sends: in the form of its revision. */
export interface Form {
  readonly isNotification: (method: string) => boolean
  readonly params: (method: string, params: Params) => Params
}

/** The text without what differs between two equal answers. */
const anonymous = (messages: ReadonlyArray<WireMessage>, ids: Ids, requestId: string): string => {
  let text = JSON.stringify(messages).replaceAll(requestId, "<request>")
  for (const key of ["path", "conversation", "task", "other"] as const) {
    text = text.replaceAll(ids[key], `<${key}>`)
  }
  // Ids that the server makes for this answer, and its times.
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
    .replaceAll(/"(?:nextCursor|requestState)":"[^"]*"/g, '"<sealed>":""')
}

let requests = 0

/** Sends the row and resolves with everything that the client has received then, and its text for a comparison. */
export const send = Effect.fnUntraced(function* (client: Harness, form: Form, row: Row, ids: Ids) {
  const before = client.messages.length
  const id = `row-${++requests}-`
  const params = form.params(row.method, row.attempt(ids))
  yield* client.send({
    jsonrpc: "2.0",
    ...(form.isNotification(row.method) ? {} : { id }),
    method: row.method,
    params,
  })
  yield* client.quiet
  const received = client.messages.slice(before)
  return { received, text: anonymous(received, ids, id) }
})

/** What the owner would notice: events of the conversation, pending questions, and messages. */
const watched = (owner: Harness, { conversation }: Ids) =>
  Effect.gen(function* () {
    const { approvals, seq, turn } = yield* (yield* owner.manager.get(conversation)).state
    const { archived } = (yield* owner.manager.list({ owner: "alice" })).items.find(
      ({ id }) => id === conversation,
    ) ?? { archived: true }
    return {
      seq,
      turn: turn?.id,
      open: approvals.open.length,
      archived,
      messages: owner.messages.length,
    }
  }).pipe(Effect.orDie)

/** Sends the rows as the intruder. */
export const intrude = Effect.fnUntraced(function* (
  owner: Harness,
  intruder: Harness,
  form: Form,
  rows: ReadonlyArray<Row>,
  ids: Ids,
) {
  const before = yield* watched(owner, ids)
  for (const row of rows) {
    const about = yield* send(intruder, form, row, ids)
    if (names(row, ids)) {
      const unknown = yield* send(intruder, form, row, unknownIds)
      assert.strictEqual(about.text, unknown.text, row.name)
    }
    assert.deepStrictEqual(yield* watched(owner, ids), before, row.name)
    const sent = JSON.stringify(row.attempt(ids))
    for (const id of [ids.conversation, ids.task]) {
      // What the client has sent itself may be repeated in an error.
      if (!sent.includes(id)) assert.notInclude(JSON.stringify(about.received), id, row.name)
    }
  }
})

/** Lets the owner work on, and fails if the intruder hears of it. */
export const hearsNothing = Effect.fnUntraced(function* (
  intruder: Harness,
  work: Effect.Effect<unknown>,
) {
  // What the requests of the intruder itself have caused comes first.
  yield* TestClock.adjust("1 second")
  yield* intruder.quiet
  const before = intruder.messages.length
  yield* work
  yield* intruder.quiet
  yield* TestClock.adjust("1 second")
  yield* intruder.quiet
  assert.deepStrictEqual(intruder.messages.slice(before), [])
})
