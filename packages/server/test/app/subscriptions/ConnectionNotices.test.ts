import { AuthStatusChange, LoginChatGptComplete } from "@colloquy/protocol/app/Account"
import { ThreadArchived, ThreadNameUpdated } from "@colloquy/protocol/thread/Notifications"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as ConnectionNotices from "../../../src/app/subscriptions/ConnectionNotices.ts"
import type { PeerControl } from "../../../src/jsonrpc/Caller.ts"
import { loginId } from "../../support/Accounts.ts"

const peerOf = (notify: PeerControl["notify"]): PeerControl => ({
  notify,
  request: () => Effect.never,
  cancel: () => Effect.void,
  passed: () => Effect.void,
})

describe("ConnectionNotices", () => {
  it.effect("L6 of many that wait, the latest of each method about each subject are sent", () =>
    Effect.gen(function* () {
      const sent: Array<unknown> = []
      const notices = ConnectionNotices.make()
      const rename = (threadId: string, n: number) =>
        notices.put(
          ThreadNameUpdated,
          { threadId, threadName: `name ${n}` },
          { latestOf: threadId },
        )
      notices.put(LoginChatGptComplete, { loginId, success: true }, "each")
      for (let n = 0; n < 100_000; n++) rename(`thread ${n % 3}`, n)
      notices.put(ThreadArchived, { threadId: "thread 0" }, { latestOf: "thread 0" })
      const notify: PeerControl["notify"] = (_, params) =>
        Effect.sync(() => void sent.push(...params))
      yield* Effect.forkChild(notices.deliver(peerOf(notify)), { startImmediately: true })
      assert.isBelow(sent.length, 1100)
      assert.deepStrictEqual(sent[0], { loginId, success: true })
      assert.deepStrictEqual(sent.slice(-4), [
        { threadId: "thread 1", threadName: "name 99997" },
        { threadId: "thread 2", threadName: "name 99998" },
        { threadId: "thread 0", threadName: "name 99999" },
        { threadId: "thread 0" },
      ])
    }),
  )

  it.effect(
    "L6 a client that does not read gets the latest of each state and all others, in order",
    () =>
      Effect.gen(function* () {
        const reads = Latch.makeUnsafe(false)
        const sent: Array<unknown> = []
        const notify: PeerControl["notify"] = (_, params) =>
          Effect.andThen(
            reads.await,
            Effect.sync(() => sent.push(...params)),
          )
        const notices = ConnectionNotices.make()
        yield* Effect.forkChild(notices.deliver(peerOf(notify)))
        notices.put(AuthStatusChange, {}, "latest")
        yield* Effect.yieldNow
        for (let i = 0; i < 1000; i++)
          notices.put(AuthStatusChange, { authMethod: "apikey" }, "latest")
        notices.put(LoginChatGptComplete, { loginId, success: true }, "each")
        notices.put(LoginChatGptComplete, { loginId, success: false }, "each")
        notices.put(AuthStatusChange, { authMethod: "chatgpt" }, "latest")
        reads.openUnsafe()
        for (let i = 0; i < 20; i++) yield* Effect.yieldNow
        assert.deepStrictEqual(sent, [
          {},
          { loginId, success: true },
          { loginId, success: false },
          { authMethod: "chatgpt" },
        ])
      }),
  )
})
