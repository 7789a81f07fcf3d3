import { assert, describe, it } from "@effect/vitest"
import { commandText, pathText } from "../../src/question/CommandText.ts"

describe("CommandText", () => {
  it.each<readonly [command: ReadonlyArray<string>, text: string]>([
    [["touch", "made.txt"], "touch made.txt"],
    [["/bin/bash", "-lc", "touch made.txt"], "/bin/bash -lc 'touch made.txt'"],
    [["echo", ""], "echo ''"],
    [["echo", "it's", "$HOME"], "echo 'it'\\''s' '$HOME'"],
    [["cat", "a\nb\tc"], "cat $'a\\nb\\tc'"],
    [["echo", "größe 漢字"], "echo 'größe 漢字'"],
  ])("%j reads as in a shell: %s", (command, text) => {
    assert.strictEqual(commandText(command), text)
  })

  it.each<readonly [word: string, text: string]>([
    ["a\u001b[2Kb", "$'a\\x1b[2Kb'"],
    ["rm\r-rf", "$'rm\\x0d-rf'"],
    ["a\u0000b", "$'a\\x00b'"],
    ["\u202egnp.sh", "$'\\u202egnp.sh'"],
    ["zero\u200bwidth's \\", "$'zero\\u200bwidth\\'s \\\\'"],
    ["tag\u{e0041}", "$'tag\\U000e0041'"],
    ["\u2028", "$'\\u2028'"],
    ["half\ud800", "$'half\\ud800'"],
  ])("text that would not be seen is escaped: %j", (word, text) => {
    assert.strictEqual(commandText([word]), text)
    assert.strictEqual(pathText(word), text)
  })

  it("a path without hidden characters is unchanged", () => {
    assert.strictEqual(pathText("/work/my dir's"), "/work/my dir's")
  })
})
