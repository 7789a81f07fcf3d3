import { event } from "@colloquy/protocol/EventDefinition"
import { type EventMsg, eventInfo } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { wireEvent, wireMsg } from "../../src/events/McpEvents.ts"
import { appServerEvent } from "../../src/events/V1Events.ts"

/** A definition that does not state which clients receive the event. */
const Novelty = event(
  "novelty",
  { detail: Schema.String },
  { doc: "An event that no client of the original knows." },
)

const msg = { type: "novelty", detail: "new" } as unknown as EventMsg

describe("a new event that is defined with the defaults", () => {
  it("is recorded, forced to the disk, ends no turn, and is for clients of Colloquy only", () => {
    const { doc: _, ...properties } = Novelty.info
    const { doc: __, ...ofUnknown } = eventInfo("novelty")
    assert.deepStrictEqual<unknown>(properties, {
      since: "colloquy 0.1",
      audience: "colloquy",
      durable: true,
      synced: true,
      ends: false,
      inRollout: false,
      completes: [],
      legacy: false,
    })
    assert.deepStrictEqual<unknown>(properties, ofUnknown)
  })

  it("is not sent to MCP clients", () => {
    assert.isUndefined(wireMsg(msg))
    assert.isUndefined(wireEvent({ seq: 1, id: "t", msg }, { requestId: 1, threadId: "t" }))
  })

  it("is not sent to clients of the original's app-server", () => {
    assert.isUndefined(appServerEvent(msg, { raw: false, all: false }))
    assert.isUndefined(appServerEvent(msg, { raw: true, all: false }))
  })

  it("is sent to app-server listeners that gave `after`", () => {
    assert.deepStrictEqual(appServerEvent(msg, { raw: false, all: true }), msg)
  })
})
