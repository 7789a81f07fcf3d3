import { assert, describe, it } from "@effect/vitest"
import { inCommand, inOrder, inPaths } from "../../src/question/LookAlikes.ts"

describe("LookAlikes", () => {
  it.each<readonly [command: ReadonlyArray<string>, mark: string]>([
    [
      ["с\u0430t", "x"],
      '"с\u0430t" contains с (U+0441, Cyrillic, looks like c), \u0430 (U+0430, Cyrillic, looks like a)',
    ],
    [["cat", "/etc/p\u03bfst"], '"/etc/p\u03bfst" contains \u03bf (U+03BF, Greek, looks like o)'],
    [
      ["bash", "-lc", "cd x && \u0441\u0443\u0440 a b"],
      '"\u0441\u0443\u0440" contains \u0441 (U+0441, Cyrillic, looks like c), \u0443 (U+0443, Cyrillic, looks like y), \u0440 (U+0440, Cyrillic, looks like p)',
    ],
    [
      ["\u0455\u0455һ"],
      '"\u0455\u0455һ" contains \u0455 (U+0455, Cyrillic, looks like s), һ (U+04BB, Cyrillic, looks like h)',
    ],
    [["ｒm", "x"], '"ｒm" contains ｒ (U+FF52, Latin, looks like r)'],
    [["\u{1d41c}at"], '"\u{1d41c}at" contains \u{1d41c} (U+1D41C, looks like c)'],
    [
      ["cat", "\u2215etc\u2215passwd"],
      '"\u2215etc\u2215passwd" contains \u2215 (U+2215, looks like /)',
    ],
    [["rm", "\u2010rf"], '"\u2010rf" contains \u2010 (U+2010, looks like -)'],
    [["cat", "／etc"], '"／etc" contains ／ (U+FF0F, looks like /)'],
    [["cat", "\u0261o.mod"], '"\u0261o.mod" contains \u0261 (U+0261, Latin, looks like g)'],
  ])("L7 marks %j", (command, mark) => {
    assert.deepStrictEqual(inCommand(command), [`Look-alike characters: ${mark}.`])
  })

  it.each<ReadonlyArray<string>>([
    ["cat", "отчёт.txt", "ура", "файл_v2.md", "Ελλάδα.csv"],
    ["cat", "größe.txt", "naïve", "kısa.txt", "Łódź"],
    ["cat", "ファイル（1）.txt", "東京タワー", "한국어.md", "Tシャツ.png"],
    ["cat", "שלום.txt", "مرحبا.txt", "नमस्ते.txt", "ไทย.txt"],
    ["git", "commit", "-m", "a — b: it’s 5 m² and 10 µs …"],
    ["bash", "-lc", "cat отчёт.txt | grep слово"],
  ])("leaves ordinary words alone: %j", (...command) => {
    assert.deepStrictEqual(inCommand(command), [])
    assert.deepStrictEqual(inPaths(command), [])
  })

  it("L7 says where a display may reverse the order of words", () => {
    const [line] = inOrder(["cp", "א", "ב"])
    assert.match(line ?? "", /^Right-to-left letters: /)
    assert.deepStrictEqual(inOrder(["/tmp/א/ב"]), [line ?? ""])
    assert.deepStrictEqual(inOrder(["cat", "שלום.txt", "مرحبا.txt", "größe"]), [])
  })

  it("L7 names a few words and counts the others", () => {
    const lines = inPaths(Array.from({ length: 9 }, (_, i) => `/p\u0430th${i}`))
    assert.strictEqual(lines.length, 6)
    assert.strictEqual(lines.at(-1), "Look-alike characters: 4 more words contain some.")
  })
})
