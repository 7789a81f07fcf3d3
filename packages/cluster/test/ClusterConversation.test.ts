/** Which operations of another node a submission takes. */
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import { ConversationId } from "@colloquy/protocol/Ids"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ClusterConversation } from "../src/internal/ClusterConversation.ts"
import { Routing } from "../src/internal/Routing.ts"
import { Elsewhere, NodeUnreachable } from "../src/NodeErrors.ts"
import type { ConversationCalls, Nodes } from "../src/Nodes.ts"
import { elapse, says } from "./support/TwoNodes.ts"

const id = ConversationId.make("01999999-9999-7999-8999-999999999999")

const unused = () => assert.fail("an operation that is not expected")

const noResponse = new NodeUnreachable({ id, reason: "no response" })
const held = new LeaseHeld({ id, holder: { host: "other", pid: 1 } })
const elsewhere = new Elsewhere({ id, held })

/** A conversation of another node, which does not respond to so many calls. */
const onNodeThatMisses = (missed: number) =>
  onNodeThat((call) => (call <= missed ? noResponse : undefined))

/**
 * A conversation of another node, whose calls, counted from 1, fail so. Notes the operations and their submissions. This node
 * closes after so many calls.
 */
const onNodeThat = (
  failureOf: (call: number) => NodeUnreachable | Elsewhere | undefined,
  closesAfter = Number.POSITIVE_INFINITY,
) => {
  const asked: Array<readonly [string, string | undefined]> = []
  const respond = (operation: string, submission: string | undefined) =>
    Effect.suspend(() => {
      asked.push([operation, submission])
      const failure = failureOf(asked.length)
      return failure !== undefined
        ? Effect.fail(failure)
        : Effect.succeed({ id: submission ?? "", disposition: "started" as const })
    })
  const calls: ConversationCalls<NodeUnreachable> = {
    Load: unused,
    Submit: ({ submission }) => respond("Submit", submission),
    RunTurn: ({ submission }) => Effect.andThen(respond("RunTurn", submission), unused),
    SubmitStored: ({ submission }) => respond("SubmitStored", submission),
    Cancel: unused,
    Attach: unused,
    ReadState: unused,
    Metadata: unused,
    History: unused,
    Fork: unused,
    Remove: unused,
    Archive: unused,
    Unarchive: unused,
  }
  const nodes: Nodes["Service"] = {
    self: "here",
    owns: () => false,
    sameOwner: () => false,
    calls: () => calls,
    serve: () => Effect.void,
    leave: Effect.void,
  }
  const routing = new Routing({
    nodes,
    own: calls as ConversationCalls,
    patience: Duration.seconds(5),
    isClosed: () => asked.length >= closesAfter,
    isHere: () => false,
    hasLeft: () => false,
  })
  const resolver = { resolve: () => Effect.succeed(scriptedSettings()) }
  // The manager of this process has no part in what another node has.
  const parts = {
    routing,
    resolver,
    local: { get: unused },
    recordedState: unused,
    positionOf: () => Effect.succeed(undefined),
    log: { store: new MemoryStore(), metadata: unused, closed: Effect.never },
  }
  return { conversation: new ClusterConversation(id, undefined, parts), asked }
}

describe("a submission to a conversation of another node", () => {
  it.effect("is one call, which does not wait in the database", () =>
    Effect.gen(function* () {
      const { asked, conversation } = onNodeThatMisses(0)
      yield* conversation.submit(says("hi"))
      assert.deepStrictEqual(
        asked.map(([operation]) => operation),
        ["Submit"],
      )
    }),
  )

  it.effect("L10 waits in the database, under the same id, once a node has not responded", () =>
    Effect.gen(function* () {
      const { asked, conversation } = onNodeThatMisses(2)
      const submitting = yield* Effect.forkChild(conversation.submit(says("hi")), {
        startImmediately: true,
      })
      yield* elapse(1)
      const receipt = yield* Fiber.join(submitting)
      assert.deepStrictEqual(asked, [
        ["Submit", receipt.id],
        ["SubmitStored", receipt.id],
        ["SubmitStored", receipt.id],
      ])
    }),
  )

  it.effect("L10 waits nowhere while nodes respond: it could be carried out late", () =>
    Effect.gen(function* () {
      const { asked, conversation } = onNodeThat((call) => (call <= 2 ? elsewhere : undefined))
      const submitting = yield* Effect.forkChild(conversation.submit(says("hi")))
      yield* elapse(1)
      yield* Fiber.join(submitting)
      assert.deepStrictEqual(
        asked.map(([operation]) => operation),
        ["Submit", "Submit", "Submit"],
      )
    }),
  )
})

const becauseOf = (error: unknown): string | undefined =>
  error instanceof ConversationUnavailable ? error.because?._tag : String(error)

describe("L10 a turn whose end is waited for", () => {
  it.effect("is not refused with the holder where a node may have accepted it", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<ReadonlyArray<typeof noResponse | typeof elsewhere | undefined>> =
        [
          // The turn is lost; or it is not carried out at first, then accepted, and moves.
          [noResponse],
          [elsewhere, undefined],
        ]
      for (const first of cases) {
        const { conversation } = onNodeThat((call) =>
          call <= first.length ? first[call - 1] : elsewhere,
        )
        const running = yield* Effect.forkChild(Effect.flip(conversation.runTurn(says("hi"))))
        yield* elapse(15)
        const error = yield* Fiber.join(running)
        assert.strictEqual(becauseOf(error), "StoreError")
      }
    }),
  )

  it.effect("is refused with the holder where none was asked to carry it out", () =>
    Effect.gen(function* () {
      const { conversation } = onNodeThat(() => elsewhere)
      const running = yield* Effect.forkChild(Effect.flip(conversation.runTurn(says("hi"))))
      yield* elapse(15)
      assert.strictEqual(becauseOf(yield* Fiber.join(running)), "LeaseHeld")
    }),
  )
})

describe("L10 a node that closes", () => {
  const closing = (failures: ReadonlyArray<typeof noResponse | typeof elsewhere | undefined>) =>
    onNodeThat((call) => failures[call - 1], failures.length).conversation

  it.effect("does not say that no work is taken where another node may have accepted it", () =>
    Effect.gen(function* () {
      for (const refused of [
        Effect.asVoid(closing([noResponse]).submit(says("hi"))),
        Effect.asVoid(closing([noResponse]).runTurn(says("hi"))),
        Effect.asVoid(closing([elsewhere, undefined]).runTurn(says("hi"))),
      ]) {
        const running = yield* Effect.forkChild(Effect.flip(refused))
        yield* elapse(15)
        assert.strictEqual(becauseOf(yield* Fiber.join(running)), "StoreError")
      }
    }),
  )

  it.effect("says that no work is taken where none was asked to carry it out", () =>
    Effect.gen(function* () {
      for (const failures of [[], [elsewhere]]) {
        const running = yield* Effect.forkChild(Effect.flip(closing(failures).submit(says("hi"))))
        yield* elapse(15)
        assert.strictEqual(becauseOf(yield* Fiber.join(running)), "ManagerClosed")
      }
    }),
  )
})
