import { methodsOf, type Method } from "@colloquy/protocol/Method"
import { AppServerV2 } from "@colloquy/protocol/thread/AppServerV2"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { threadRecordings, type ThreadEntry } from "../support/ThreadRecording.ts"

type Members = Readonly<Record<string, unknown>>
const clientMethods = methodsOf(AppServerV2.clientToServer)
const serverMethods = methodsOf(AppServerV2.serverToClient)
const strict = { errors: "all", onExcessProperty: "error" } as const
const faults = (schema: Schema.Top, value: unknown): string | undefined => {
  const r = Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>, strict)(value)
  return Result.isFailure(r) ? String(r.failure.message) : undefined
}
const check = (entries: ReadonlyArray<ThreadEntry>) => {
  const out: Array<string> = []
  const asked = new Map<string, { method: Method; params: unknown }>()
  for (const { conn, dir, msg } of entries) {
    if (dir !== "c2s" && dir !== "s2c") continue
    if (typeof msg !== "object" || msg === null || Array.isArray(msg)) continue
    const m = msg as Members
    const key = `${conn}/${dir}/${JSON.stringify(m["id"])}`
    const other = `${conn}/${dir === "c2s" ? "s2c" : "c2s"}/${JSON.stringify(m["id"])}`
    if (typeof m["method"] === "string") {
      const method = (dir === "c2s" ? clientMethods : serverMethods).get(m["method"])
      if (method === undefined) {
        out.push(`no method ${dir} ${m["method"]}`)
        continue
      }
      if ("id" in m) asked.set(key, { method, params: m["params"] })
      if (dir === "s2c" || !("id" in m)) {
        const f = faults(method.payloadSchema, m["params"])
        if (f) out.push(`${dir} ${m["method"]}: ${f}`)
      }
      continue
    }
    const question = asked.get(other)
    if (question === undefined) continue
    const f = faults(question.method.payloadSchema, question.params ?? {})
    if ("result" in m) {
      if (f) out.push(`params of ${question.method._tag}: ${f}`)
      const g = faults(question.method.successSchema, m["result"])
      if (g) out.push(`result of ${question.method._tag}: ${g}`)
    } else if ("error" in m && dir === "s2c") {
      const text = (m["error"] as { message: string }).message
      out.push(
        `${text.startsWith("Invalid request") ? "E" : "e"}${f ? "R" : "A"} ${question.method._tag} ${text.slice(0, 90)} ${JSON.stringify(question.params)?.slice(0, 80)} ${text.startsWith("Invalid request") === (f !== undefined) ? "" : f}`,
      )
    }
  }
  return out
}
describe("x", () => {
  it("x", () => {
    const all = threadRecordings.flatMap(([name, e]) => check(e).map((x) => `${name} ${x}`))
    console.log(all.join("\n"))
    assert.isTrue(true)
  })
})
