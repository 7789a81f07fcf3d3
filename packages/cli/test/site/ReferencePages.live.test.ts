import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { configurationKeys } from "../support/reference/ConfigurationKeys.ts"
import { events } from "../support/reference/Events.ts"

const page = (name: string): string =>
  readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8")

describe("generated pages", () => {
  it("on configuration keys is as `npm run docs` writes it", () => {
    assert.strictEqual(page("configuration-keys"), configurationKeys())
  })

  it("on events is as `npm run docs` writes it", () => {
    assert.strictEqual(page("events"), events())
  })

  it("names tables, free names, choices, defaults and limits of keys", () => {
    const text = configurationKeys()
    for (const row of [
      "## `[mcp_servers.NAME]`",
      '| `wire_api` | `"responses"`, `"chat"` | `"chat"` | The wire',
      "| `max_line_bytes` | whole number, 1024 to 536870888 | `67108864` |",
      "| `env` | table of texts |  |",
      "or table of `granular` (table of `sandbox_approval` (`true` or `false`), `rules` (`true`",
    ]) {
      assert.include(text, row)
    }
  })

  it("say of every key what it means", () => {
    const without = configurationKeys()
      .split("\n")
      .filter((row) => /^\| `.*\| *\|$/.test(row))
    assert.deepStrictEqual(without, [])
  })

  it("say of events whether they are recorded, whether they end a turn and who receives them", () => {
    const text = events()
    assert.include(text, "Recorded and numbered; ends a turn; since 0.25; sent to every client.")
    assert.match(text, /## `agent_message_delta`\n\n[^\n]+\n\nNot recorded/)
  })
})
