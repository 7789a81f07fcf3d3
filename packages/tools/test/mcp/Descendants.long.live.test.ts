import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "node:path"
import { ToolServers } from "../../src/mcp/ToolServers.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { alive, mark } from "../support/Census.ts"
import { canMark, leaving } from "../support/Leaving.ts"

const script = Path.join(import.meta.dirname, "fixtures/server.mjs")

const services = ToolServers.layer().pipe(
  Layer.provide(TrustedPrograms.layer({ environment: process.env })),
  Layer.provide(NodeServices.layer),
)

describe.skipIf(!canMark)("descendants of a tool server that left its group", () => {
  for (const [name, leave] of Object.entries(leaving)) {
    it.live(`L8 end with the server: ${name}`, () =>
      Effect.gen(function* () {
        const word = mark()
        yield* Effect.gen(function* () {
          const servers = yield* ToolServers
          const line = `${leave(word)}\nsleep 0.2; exec "${process.execPath}" "${script}" none`
          const open = yield* servers.open({
            s: {
              transport: { _tag: "Stdio", command: "bash", args: ["-c", line], env: {} },
              startupTimeout: Duration.seconds(15),
              toolTimeout: Duration.seconds(15),
            },
          })
          assert.deepStrictEqual((yield* open.tools).failures, [])
          assert.isNotEmpty(alive(`sleep\0${word}`))
        }).pipe(Effect.scoped, Effect.provide(services))
        assert.deepStrictEqual(alive(word), [])
      }),
    )
  }
})
