import { AuthStatusChange, LoginChatGptComplete } from "@colloquy/protocol/app/Account"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as ConnectionNotices from "../../../src/app/subscriptions/ConnectionNotices.ts"
import type { PeerControl } from "../../../src/jsonrpc/Caller.ts"
import { loginId } from "../../support/Accounts.ts"

describe("ConnectionNotices", () => {
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
        yield* Effect.forkChild(
          notices.deliver({
            notify,
            request: () => Effect.never,
            cancel: () => Effect.void,
            passed: () => Effect.void,
          }),
        )
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
