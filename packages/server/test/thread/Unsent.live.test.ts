import * as Notifications from "@colloquy/protocol/thread/Notifications"
import { unsentNotifications } from "@colloquy/protocol/thread/Unsent"
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const source = fileURLToPath(new URL("../../src", import.meta.url))

/** The text of every module of the server. */
const texts = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(`${source}/${name}`, "utf8"))

const isUsed = (name: string): boolean => {
  const word = new RegExp(`\\b${name}\\b`)
  return texts.some((text) => word.test(text))
}

describe("notifications of app-server v2", () => {
  it("are sent, or listed with the reason why they are not", () => {
    const unused = Object.entries(Notifications).flatMap(([name, method]) =>
      "_tag" in method && !isUsed(name) ? [method._tag] : [],
    )
    assert.deepStrictEqual(
      unused.toSorted(),
      unsentNotifications.flatMap(({ methods }) => methods).toSorted(),
    )
  })
})
