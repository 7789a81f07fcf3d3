import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import {
  compacted,
  maxBridgeBytes,
  unansweredFrom,
  withoutMiddle,
} from "../../src/log/Compacted.ts"
import { commandMessage } from "../../src/log/CommandMessage.ts"
import { utf8Length } from "../../src/log/Tokens.ts"
import { environmentContext } from "../../src/decider/EnvironmentContext.ts"
import { assistantItem, callItem, outputItem, settings, userItem } from "../support.ts"

const environment = environmentContext(settings)
const moved = environmentContext({ ...settings, cwd: "/elsewhere" })
const instructions = userItem("<user_instructions>\n\nbe kind\n\n</user_instructions>")
const image: ResponseItem = {
  type: "message",
  role: "user",
  content: [{ type: "input_image", image_url: "data:image/png;base64,AA==" }],
}

const summed = (said: string, summary: string) =>
  userItem(
    `The conversation up to here was replaced by this message, to make room.\n\nWhat I said in it, oldest first:\n\n${said}\n\nYour own summary of it:\n\n${summary}`,
  )

const all = { summary: "so far", keepsInput: false }

describe("compacted", () => {
  it("keeps the initial context and one message with the user messages and the summary", () => {
    const items = [
      instructions,
      environment,
      userItem("first"),
      assistantItem("hm"),
      callItem("look", "1"),
      outputItem("1", "seen"),
      image,
      userItem("second"),
      assistantItem("ok"),
    ]
    assert.deepStrictEqual(compacted(items, undefined, all).items, [
      instructions,
      environment,
      summed("first\n\nsecond", "so far"),
    ])
  })

  it("leaves out commands of the user, except those since the last answer", () => {
    const before = commandMessage("ls", "a b")
    const since = commandMessage("pwd", "/work")
    const items = [environment, userItem("first"), before, assistantItem("ok"), since]
    assert.deepStrictEqual(compacted(items, undefined, all).items, [
      environment,
      summed("first", "so far"),
    ])
    assert.deepStrictEqual(compacted(items, undefined, { ...all, keepsInput: true }).items, [
      environment,
      summed("first", "so far"),
      since,
    ])
  })

  it("says so when there is no user message or no summary", () => {
    assert.deepStrictEqual(
      compacted([environment], undefined, { summary: "", keepsInput: false }).items,
      [environment, summed("(none)", "(no summary available)")],
    )
  })

  it("keeps the last environment", () => {
    const items = [environment, userItem("a"), assistantItem("b"), moved]
    assert.deepStrictEqual(compacted(items, undefined, all).items[0], moved)
  })

  it("keeps messages that the model has not answered yet, with their images, after the bridge", () => {
    const items = [environment, userItem("a"), assistantItem("b"), moved, userItem("c"), image]
    assert.deepStrictEqual(compacted(items, undefined, { ...all, keepsInput: true }).items, [
      moved,
      summed("a", "so far"),
      userItem("c"),
      image,
    ])
  })

  it("includes the user messages of an earlier summary once, and not that summary", () => {
    const first = compacted([environment, userItem("a"), assistantItem("b")], undefined, all)
    const again = compacted([...first.items, userItem("c"), assistantItem("d")], first.carried, {
      ...all,
      summary: "more",
    })
    assert.deepStrictEqual(again.items, [environment, summed("a\n\nc", "more")])
    const third = compacted(again.items, again.carried, { ...all, summary: "most" })
    assert.deepStrictEqual(third.items, [environment, summed("a\n\nc", "most")])
  })

  it("bounds the user messages, and leaves out their middle", () => {
    const said = ["begin ", "x".repeat(maxBridgeBytes), " end"].map(userItem)
    const [bridge] = compacted([...said, assistantItem("b")], undefined, all).items
    const [part] = bridge?.type === "message" ? bridge.content : []
    const text = part?.type === "input_text" ? part.text : ""
    assert.include(text, "oldest first:\n\nbegin \n\nxxx")
    assert.include(text, "xxx\n\n end\n\nYour own")
    assert.include(text, "bytes left out")
    assert.isBelow(utf8Length(text), maxBridgeBytes + 300)
  })
})

describe("unansweredFrom", () => {
  it("is the index of the last user messages", () => {
    assert.strictEqual(unansweredFrom([environment, userItem("a")]), 0)
    assert.strictEqual(unansweredFrom([userItem("a"), assistantItem("b")]), 2)
    assert.strictEqual(unansweredFrom([callItem("x", "1"), outputItem("1", ""), userItem("a")]), 2)
  })
})

describe("withoutMiddle", () => {
  it("does not change text that fits, to the byte", () => {
    assert.strictEqual(withoutMiddle("é".repeat(20), 40), "é".repeat(20))
    assert.notStrictEqual(withoutMiddle("é".repeat(21), 40), "é".repeat(21))
  })

  it("cuts between characters, within the bound, and counts the missing bytes", () => {
    for (const character of ["a", "é", "水", "🦉"]) {
      for (let maxBytes = 60; maxBytes < 70; maxBytes++) {
        const cut = withoutMiddle(character.repeat(100), maxBytes)
        const [, head, missing, tail] =
          /^(.*)\n\[… (\d+) bytes left out …\]\n(.*)$/su.exec(cut) ?? []
        assert.isAtMost(utf8Length(cut), maxBytes)
        assert.strictEqual(`${head}${tail}`.replaceAll(character, ""), "")
        assert.strictEqual(
          utf8Length(`${head}${tail}`) + Number(missing),
          100 * utf8Length(character),
        )
      }
    }
  })
})
