/** The serialization of calls between nodes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as WholeLines from "../src/node/WholeLines.ts"

const messages = [{ text: "é".repeat(40) }, [], 1, { text: "line\nline" }, "x".repeat(300)]

const bytes = new TextEncoder().encode(messages.map((one) => `${JSON.stringify(one)}\n`).join(""))

const chunksOf = (size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )

const parserOf = (maxBytes: number) =>
  Effect.map(RpcSerialization.RpcSerialization, (serialization) => serialization.makeUnsafe()).pipe(
    Effect.provide(WholeLines.layer(maxBytes)),
  )

describe("lines between nodes", () => {
  it.effect("are the same wherever they are cut", () =>
    Effect.gen(function* () {
      for (const size of [1, 2, 3, 7, 64, bytes.length]) {
        const parser = yield* parserOf(1000)
        assert.deepStrictEqual(
          chunksOf(size).flatMap((chunk) => parser.decode(chunk)),
          messages,
        )
      }
    }),
  )

  it("are looked through once, however many parts they arrive in", () => {
    let given = 0
    const counting: RpcSerialization.Parser = {
      encode: () => undefined,
      decode: (data) => {
        given += data.length
        return []
      },
    }
    const parser = WholeLines.ofWholeLines(counting, 1000)
    for (const chunk of chunksOf(3)) parser.decode(chunk)
    assert.strictEqual(given, bytes.length)
  })

  it.effect("are refused when they are too long, before their end has arrived", () =>
    Effect.gen(function* () {
      const parser = yield* parserOf(100)
      assert.throws(() => {
        for (const chunk of chunksOf(40)) parser.decode(chunk)
      }, RpcSerialization.MaxBufferSizeExceeded)
    }),
  )
})
