import { assert, describe, it } from "@effect/vitest"
import { inOrder, inTexts } from "../../src/question/LookAlikes.ts"

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
    assert.deepStrictEqual(inTexts(command), [`Look-alike characters: ${mark}.`])
  })

  it.each<ReadonlyArray<string>>([
    ["cat", "отчёт-о-росте.txt", "/дом/слово", "файл_v2.md", "Ελλάδα.csv"],
    ["cat", "größe.txt", "naïve", "kısa.txt", "Łódź"],
    ["cat", "ファイル（1）.txt", "東京タワー", "한국어.md", "Tシャツ.png"],
    ["cat", "שלום.txt", "مرحبا.txt", "नमस्ते.txt", "ไทย.txt"],
    ["cat", "l’été.txt", "「東京」、大阪。.md", "१।२ शब्द।", "نعم،لا؟"],
    ["git", "commit", "-m", "a — b: it’s 5 m² and 10 µs …"],
    ["bash", "-lc", "cat отчёт.txt | grep слово"],
  ])("leaves ordinary words alone: %j", (...command) => {
    assert.deepStrictEqual(inTexts(command), [])
  })

  it.each<ReadonlyArray<string>>([
    ["ѕһ"],
    ["bash", "-c", '"ѕһ" x'],
    ["bash", "-c", "'ѕһ' x"],
    ["bash", "-c", "A=1 ѕһ"],
    ["bash", "-c", "A=ѕһ"],
    ["env", "ѕһ"],
    ["bash", "-c", "env ѕһ"],
    ["bash", "-c", "\\ѕһ"],
    ["bash", "-c", "$(ѕһ)"],
    ["bash", "-c", "слово|ѕһ"],
    ["find", ".", "-exec", "/usr/bin/ѕһ", "{}"],
    ["run", "ѕһ.txt"],
    ["run", "файлы/ѕһ-1.2"],
  ])("L7 marks a word whose letters all look like Latin ones, wherever it is: %j", (...command) => {
    assert.match(
      inTexts(command).join("\n"),
      /^Look-alike characters: .* contains ѕ \(U\+0455, Cyrillic, looks like s\), һ \(U\+04BB, Cyrillic, looks like h\)\.$/,
    )
  })

  it.each<readonly [sign: string, chars: string]>([
    ["'", "\u02bc\ua78c\u2018\u2019\u02b9\u00b4\u2035\u2032\u05f3"],
    ['"', "\u201c\u201d\u2033\u02ba\u3003"],
    ["`", "\u02cb\u1fef"],
    ["-", "\u2500\u2796\u23af\u2212\u2010\u4e00\u30fc"],
    ["_", "\u02cd\u2581\u203f\uff3f"],
    ["<", "\u2039\u02c2\u1438\u27e8\u276e\u00ab"],
    [">", "\u203a\u02c3\u1433\u27e9\u276f\u00bb"],
    ["(", "\u2768\u2985\u27ee"],
    [")", "\u2769"],
    ["[", "\u2772\u3014"],
    ["]", "\u2773\u3015"],
    ["{", "\u2774"],
    ["}", "\u2775"],
    ["|", "\u2502\u2223\u01c0\u00a6"],
    ["&", "\ua778\uff06"],
    [";", "\u037e\u061b\u204f"],
    ["$", "\u{1f4b2}\uff04"],
    ["*", "\u2217\u066d\u204e"],
    ["?", "\u0294\u2753\uff1f"],
    ["!", "\u01c3\u2757"],
    ["~", "\u223c\u02dc\u2053"],
    ["#", "\u266f\uff03"],
    ["/", "\u2044\u2215\u2571\u30ce"],
    ["\\", "\u2216\u2572\u29f5"],
    ["=", "\ua78a\u2550\u2e40"],
    [":", "\u2236\u0589\ua789"],
    [".", "\u2024\ua4f8"],
    [",", "\u201a\u060c\u3001"],
    ["%", "\u066a\uff05"],
    ["..", "\u2025"],
  ])("L7 marks what looks like the sign %s of a shell: %s", (sign, chars) => {
    for (const char of chars) {
      assert.include(inTexts([`rm ${char}rf`]).join("\n"), `looks like ${sign})`, char)
    }
  })

  it("L7 marks every dash, connector, quotation mark and bracket outside ASCII", () => {
    for (let code = 0x80; code <= 0x10ffff; code++) {
      const char = String.fromCodePoint(code)
      if (!/[\p{Pd}\p{Pc}\p{Pi}\p{Pf}\p{Ps}\p{Pe}]/u.test(char)) continue
      assert.notDeepEqual(inTexts([`1${char}`]), [], code.toString(16))
    }
  })

  it.each(["’x y’", "rm ’x", "a’;b", "a’$b", "1’a", "l’été’"])(
    "L7 marks an apostrophe that is not between two letters: %j",
    (text) => assert.match(inTexts([text])[0] ?? "", /U\+2019, looks like '/),
  )

  it("L7 says where a display may reverse the order of words", () => {
    const [line] = inOrder(["cp", "א", "ב"])
    assert.match(line ?? "", /^Right-to-left letters: /)
    assert.deepStrictEqual(inOrder(["/tmp/א/ב"]), [line ?? ""])
    assert.deepStrictEqual(inOrder(["cat", "שלום.txt", "مرحبا.txt", "größe"]), [])
  })

  it("L7 names a few words and counts the others", () => {
    const lines = inTexts(Array.from({ length: 9 }, (_, i) => `/p\u0430th${i}`))
    assert.strictEqual(lines.length, 6)
    assert.strictEqual(lines.at(-1), "Look-alike characters: 4 more words contain some.")
  })
})
