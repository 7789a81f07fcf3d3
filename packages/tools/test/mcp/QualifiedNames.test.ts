import { assert, describe, it } from "@effect/vitest"
import { qualifiedName, qualifyAll } from "../../src/mcp/QualifiedNames.ts"
import { sha1Hex } from "../../src/mcp/Sha1.ts"

describe("QualifiedNames", () => {
  // FIPS 180 examples, and the lengths around the end of a block (answers of sha1sum).
  it.each([
    ["", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
    ["abc", "a9993e364706816aba3e25717850c26c9cd0d89d"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
    ],
    ["a".repeat(55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"],
    ["a".repeat(64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"],
    ["ä__日本", "9c0f1a5c3fcb643db21afb68049ef18ba66b5bce"],
  ])("the SHA-1 of %j is %s", (text, digest) => {
    assert.strictEqual(sha1Hex(text), digest)
  })

  it.each([
    ["files", "read", "files__read"],
    ["a", "b".repeat(61), `a__${"b".repeat(61)}`],
    ["a", "b".repeat(62), `a__${"b".repeat(21)}${sha1Hex(`a__${"b".repeat(62)}`)}`],
    ["s", "weather in paris?", "s__weather_in_paris_"],
    ["s", "", "s__"],
  ])("the tool %s %s is called %s", (server, tool, name) => {
    assert.strictEqual(qualifiedName(server, tool), name)
    assert.isAtMost(name.length, 64)
  })

  it("names that differ behind the cut stay different", () => {
    const long = "x".repeat(80)
    assert.notStrictEqual(qualifiedName("s", `${long}a`), qualifiedName("s", `${long}b`))
    assert.strictEqual(qualifiedName("s", `${long}a`).length, 64)
  })

  it("tools come sorted by name, later duplicates are skipped", () => {
    const tool = (name: string, from: string) => ({ name, from })
    assert.deepStrictEqual(
      qualifyAll([
        ["b", [tool("z", "1"), tool("a", "2"), tool("z", "3")]],
        ["a__b", [tool("c", "4")]],
        ["a", [tool("b__c", "5")]],
      ]),
      [
        { qualifiedName: "a__b__c", server: "a", tool: tool("b__c", "5") },
        { qualifiedName: "b__a", server: "b", tool: tool("a", "2") },
        { qualifiedName: "b__z", server: "b", tool: tool("z", "1") },
      ],
    )
  })
})
