/**
 * Tests every method of the app-server on the built program, with real files, git, commands, `config.toml`, `auth.json`
 * and rollouts, and the offline model. Each method has a row; the types make a missing row an error.
 */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { infoOf, methodsOf } from "@colloquy/protocol/Method"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { accountRows, noticeRows } from "./app/AccountRows.ts"
import { approvalRows, cancellationRows } from "./app/ApprovalRows.ts"
import { conversationRows } from "./app/ConversationRows.ts"
import { eventRows } from "./app/EventRows.ts"
import { hostRows } from "./app/HostRows.ts"
import { messageRows } from "./app/MessageRows.ts"
import { sessionRows } from "./app/SessionRows.ts"
import type { ClientMethod, ServerMethod } from "./app/App.ts"
import type { Row } from "./app/Row.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"

beforeAll(buildIfMissing)

const sent: Readonly<Record<ClientMethod, Row>> = {
  ...sessionRows,
  ...conversationRows,
  ...messageRows,
  ...accountRows,
  ...hostRows,
  ...cancellationRows,
}

const notificationRows: Readonly<Record<ServerMethod, Row>> = {
  ...approvalRows,
  ...eventRows,
  ...noticeRows,
}

const requests = new Set(
  [...methodsOf(AppServer.clientToServer)].flatMap(([name, method]) =>
    infoOf(method).kind === "request" ? [name] : [],
  ),
)

describe.concurrent("the built app-server", () => {
  for (const [method, { run, shows }] of Object.entries(sent)) {
    it.live(`${method} ${shows}`, () =>
      Effect.gen(function* () {
        const { answered, beyond } = yield* run
        assert.deepStrictEqual(beyond, [])
        assert.strictEqual(answered.results.has(method), requests.has(method), "it was answered")
        assert.isTrue(answered.errors.has(method), "bad input was refused")
      }),
    )
  }

  for (const [method, { run, shows }] of Object.entries(notificationRows)) {
    it.live(`${method} ${shows}`, () =>
      Effect.gen(function* () {
        const { beyond, messages } = yield* run
        assert.deepStrictEqual(beyond, [])
        assert.isTrue(
          messages.some((message) => message.method?.startsWith(method)),
          "it came",
        )
      }),
    )
  }
})
