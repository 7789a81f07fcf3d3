import { eventInfo, eventTypes } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { read, scan } from "./SourceTree.ts"

/** The packages whose code produces events. The offline model and the simulation emit none of their own. */
const producers = new Set(["core", "tools", "store", "models"])

const sources = read(Fs)
  .modules.filter(({ file, room }) => producers.has(room) && !file.includes("/conformance/"))
  .map(({ file, source }) => ({ file, code: scan(source).code }))

/** The modules that hold an object literal of the event. */
const producersOf = (type: string): ReadonlyArray<string> =>
  sources.flatMap(({ code, file }) =>
    new RegExp(`\\btype: "${type}"(?! as const;| \\|)`).test(code) ? [file] : [],
  )

const isLegacy = (type: string): boolean => eventInfo(type).legacy

describe("EventDefinitions", () => {
  it("no code constructs a legacy event", () => {
    const legacy = eventTypes.filter(isLegacy)
    assert.isAtLeast(legacy.length, 3)
    assert.deepStrictEqual(legacy.flatMap(producersOf), [])
  })

  it("every other event is constructed somewhere", () => {
    assert.deepStrictEqual(
      eventTypes.filter((type) => !isLegacy(type) && producersOf(type).length === 0),
      [],
    )
  })
})
