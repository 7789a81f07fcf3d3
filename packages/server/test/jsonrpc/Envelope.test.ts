import * as Connections from "@colloquy/testing/MemoryConnection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { withEnvelope } from "../../src/jsonrpc/Envelope.ts"
import { hello, withApp } from "../support/AppHarness.ts"

const answer = '{"jsonrpc":"2.0","id":1,"result":{}}'
const bare = '{"id":1,"result":{}}'

describe("InKind", () => {
  it.effect.each([
    [['{"jsonrpc":"2.0","id":1,"method":"x"}'], answer],
    [['{"id":1,"method":"x"}'], bare],
    [['{"id":1,"method":"x"}', '{"jsonrpc":"2.0","id":1,"method":"x"}'], bare],
    [["nonsense", "17", '{"id":1,"method":"x"}'], bare],
    [["nonsense"], answer],
    [[], answer],
  ] as ReadonlyArray<readonly [read: ReadonlyArray<string>, written: string]>)(
    "after %j it writes %s",
    ([read, expected]) =>
      Effect.gen(function* () {
        const [client, server] = yield* Connections.memoryPair()
        const connection = withEnvelope(server)
        if (read.length > 0) {
          yield* client.send(read)
          yield* connection.receive
        }
        yield* connection.send([answer, "[]"])
        assert.deepStrictEqual(yield* client.receive, [
          { _tag: "Text", text: expected },
          { _tag: "Text", text: "[]" },
        ] as const)
      }).pipe(Effect.scoped),
  )

  it.effect("a client without the member gets answers, events and questions without it", () =>
    withApp({ initialized: false }, (app) =>
      Effect.gen(function* () {
        yield* app.send({
          id: 1,
          method: "initialize",
          params: { clientInfo: { name: "a", version: "1" } },
        })
        yield* app.response(1)
        yield* hello(app)
        assert.deepStrictEqual(
          app.texts.filter((text) => text.includes("jsonrpc")),
          [],
        )
      }),
    ),
  )
})
