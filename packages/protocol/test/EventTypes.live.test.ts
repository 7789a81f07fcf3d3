/** Tests that each variant of `EventMsg` is a named type whose documentation is that of its definition. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { AgentMessage, AnyEventMsg, ToolCallEnd } from "../src/EventMsg.ts"
import { EventMsg } from "../src/EventMsg.ts"

const folder = join(import.meta.dirname, "../src/events")
const source = readdirSync(folder)
  .map((name) => readFileSync(join(folder, name), "utf8"))
  .join("\n")

/** Documentation comments of the named types, by the name of the type, on one line each. */
const documented = new Map(
  [...source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport type (\w+) = typeof \2\.Type/g)].map(
    ([, text = "", name]) => [name, text.replaceAll(/\s*\n \*\s?/g, " ").trim()],
  ),
)

const nameOf = (type: string): string | undefined =>
  new RegExp(`export const (\\w+) = event\\(\\s*"${type}"`).exec(source)?.[1]

describe("the named types of the events", () => {
  for (const { fields, info } of EventMsg.members) {
    it(`${fields.type.literal} has one, documented as its definition is`, () => {
      assert.strictEqual(documented.get(nameOf(fields.type.literal)), info.doc)
    })
  }

  it("narrow by `type` for a client, to which any event may be sent", () => {
    const texts = (msg: AnyEventMsg): string => {
      if (msg.type === "agent_message") {
        expectTypeOf(msg).toEqualTypeOf<AgentMessage>()
        return msg.message
      }
      if (msg.type === "tool_call_end") {
        expectTypeOf(msg).toEqualTypeOf<ToolCallEnd>()
        return msg.tool
      }
      return msg.type === "unknown_event" ? msg.sent.type : msg.type
    }
    assert.strictEqual(texts({ type: "agent_message", message: "hi" }), "hi")
    assert.strictEqual(texts({ type: "unknown_event", sent: { type: "later" } }), "later")
  })
})
