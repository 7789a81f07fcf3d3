import { assert, describe, it } from "@effect/vitest"
import { Cleaning } from "../../src/testing/recording/Cleaning.ts"

describe("Cleaning", () => {
  it("removes secrets by their names and by their forms", () => {
    assert.deepStrictEqual(
      new Cleaning().value({
        api_key: "x",
        client_secret: "y",
        refresh_token: "z",
        organization: "acme",
        encrypted_content: "gAAAA",
        created_at: 1_700_000_000,
        text: "use ghp_0123456789abcdefABCD, please",
        max_output_tokens: 5,
      }),
      {
        api_key: "<secret>",
        client_secret: "<secret>",
        refresh_token: "<secret>",
        organization: "<secret>",
        encrypted_content: "<sealed>",
        created_at: 0,
        text: "use <secret>, please",
        max_output_tokens: 5,
      },
    )
  })

  it("keeps the schema of a tool and its input, whose members only look like those of a provider", () => {
    const schema = { properties: { password: { type: "string" }, user: { type: "string" } } }
    assert.deepStrictEqual(new Cleaning().value(schema), schema)
    const input = '{ "user": "ann", "account_id": 5 }'
    assert.strictEqual(new Cleaning().text(input), input)
    assert.strictEqual(
      new Cleaning().text('{"user":"ann","password":"hunter2"}'),
      '{"user":"ann","password":"<secret>"}',
    )
  })

  it("gives an id the same name wherever it is, and leaves names that it gave as they are", () => {
    const cleaning = new Cleaning()
    const line = 'data: {"call_id":"call_8kJ2mN4pQ6rS","id":"fc_0123456789"}'
    const cleaned = 'data: {"call_id":"call_1","id":"fc_1"}'
    assert.deepStrictEqual(cleaning.lines(`${line}\n\n`), [cleaned, "", ""])
    assert.strictEqual(cleaning.text("see call_8kJ2mN4pQ6rS"), "see call_1")
    assert.deepStrictEqual(new Cleaning().lines(cleaned), [cleaned])
  })

  it("removes what was sent as a key, also where a stream divides it", () => {
    const cleaning = new Cleaning()
    cleaning.addSecret("swordfish")
    const delta = (text: string) =>
      `data: ${JSON.stringify({ type: "d", item_id: "1", delta: text })}`
    const lines = cleaning.lines([delta("a sword"), delta("fish "), delta("swims")].join("\n"))
    assert.deepStrictEqual(lines, [delta("a <secret> swims"), delta(""), delta("")])
  })
})
