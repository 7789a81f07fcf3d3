import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { eventInfo, eventTypes } from "../src/EventMsg.ts"

const file = Path.join(import.meta.dirname, "../src/EventTypes.ts")

const nameOf = (type: string): string => {
  const words = type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return words.endsWith("Event") ? words : `${words}Event`
}

const expected = () => {
  const types = eventTypes.map(
    (type) =>
      `\n/** \`${type}\`: ${eventInfo(type).doc} */\nexport type ${nameOf(type)} = EventOf<"${type}">\n`,
  )
  return `/**
 * A name for each event, for programs that pass events on to functions of their own. Generated from the definitions:
 * \`UPDATE_EVENT_TYPES=1 npx vitest run --config vitest.workspace.ts packages/protocol/test/EventTypes\` rewrites it.
 */
import type { EventOf } from "./EventMsg.ts"
${types.join("")}`
}

describe("EventTypes", () => {
  it("has each event by its name, with what its definition says about it", () => {
    if (process.env["UPDATE_EVENT_TYPES"] === "1") Fs.writeFileSync(file, expected())
    assert.strictEqual(Fs.readFileSync(file, "utf8"), expected())
  })
})
