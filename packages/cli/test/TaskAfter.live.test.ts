/** Tests when the built server responds with a task to a client that declares tasks, depending on the setting. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { scripted } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
}

/** The kinds of the responses to two consecutive calls with a model that takes 1 s. */
const kinds = (setting: string) =>
  Effect.gen(function* () {
    const directory = yield* scripted([[{ delay_ms: 1000 }, { text: "done" }]])
    const path = join(directory, "config.toml")
    const offline = `model_provider = "offline"\n[offline]\nscript = "${join(directory, "script.json")}"\n`
    yield* Effect.sync(() => writeFileSync(path, `${setting}\n${offline}`))
    const server = yield* Server.start({ home: directory })
    const params = { name: "codex", arguments: { prompt: "hi" }, _meta: meta }
    server.send({ id: 1, method: "tools/call", params })
    const { result } = yield* server.answer(1)
    return result?.["resultType"]
  })

describe("mcp_task_after_ms", () => {
  it.live.each([
    ["", "complete"],
    ["mcp_task_after_ms = 200", "task"],
    ["mcp_task_after_ms = 0", "task"],
  ] as const)("%s: the response to a call of 1 s is %s", ([setting, kind]) =>
    Effect.map(kinds(setting), (got) => assert.strictEqual(got, kind)),
  )
})
