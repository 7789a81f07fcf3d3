import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { turnWithApproval, withApproval, managed } from "./turns.ts"
import { observing } from "./support.ts"

const page = readFileSync(new URL("../../../docs/observability.md", import.meta.url), "utf8")

const section = (title: string): string => page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? ""

/** The first code span of each row of the table in a section. */
const rows = (text: string): ReadonlyArray<readonly [name: string, row: string]> =>
  text.split("\n").flatMap((row) => {
    const name = /^\| `([^`]+)`/.exec(row)?.[1]
    return name === undefined ? [] : [[name, row] as const]
  })

const withoutPlace = (name: string): string => name.replace(/_(bucket|sum|count)$/, "")

/** What telemetry has after a turn with a tool call and an approval. */
const observed = Effect.gen(function* () {
  const telemetry = observing()
  const scraped = yield* managed(
    telemetry,
    withApproval,
  )(Effect.andThen(turnWithApproval, telemetry.scrape))
  return { scraped, spans: telemetry.spans }
})

describe("the page on observability", () => {
  it.effect("names every metric of a scrape with its kind and its labels, and no other", () =>
    Effect.gen(function* () {
      const { scraped } = yield* observed
      const kinds = new Map(
        Array.from(scraped.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = "", kind = ""]) => [
          name,
          kind,
        ]),
      )
      const table = rows(section("Metrics"))
      assert.deepStrictEqual(
        Object.fromEntries(table.map(([name, row]) => [name, row.split("|")[2]?.trim()])),
        Object.fromEntries(kinds),
      )
      for (const [name, row] of table) {
        const labels = new Set(
          Array.from(
            scraped.matchAll(new RegExp(`^${name}(?:_count)?\\{(.*)\\} `, "gm")),
            ([, text = ""]) => Array.from(text.matchAll(/(\w+)="/g), ([, label = ""]) => label),
          ).flat(),
        )
        for (const label of labels) assert.include(row, `\`${label}\``, name)
      }
    }),
  )

  it.effect("names every span and attribute of a turn", () =>
    Effect.gen(function* () {
      const { spans } = yield* observed
      const table = rows(section("Spans"))
      assert.deepStrictEqual(
        new Set(table.map(([name]) => name.split(" ")[0])),
        new Set(spans.map(({ name }) => name.split(" ")[0])),
      )
      for (const [name, row] of table) {
        const attributes = new Set(
          spans
            .filter((span) => span.name.split(" ")[0] === name.split(" ")[0])
            .flatMap((span) => [...span.attributes.keys()]),
        )
        const documented = Array.from(
          row.matchAll(/`((?:gen_ai|colloquy)\.[\w.]+)`/g),
          ([, one]) => one,
        )
        assert.deepStrictEqual(new Set(documented), attributes, name)
      }
    }),
  )

  it("suggests an alert for every metric, and for no other", () => {
    const alerts = section("Alerts")
    const used = new Set(
      Array.from(alerts.matchAll(/\b((?:colloquy|gen_ai_client)_\w+)/g), ([, name = ""]) =>
        withoutPlace(name),
      ),
    )
    assert.deepStrictEqual(
      [...used].toSorted(),
      rows(section("Metrics"))
        .map(([name]) => name)
        .toSorted(),
    )
    const names = Array.from(alerts.matchAll(/- alert: (\w+)/g), ([, name]) => name)
    assert.lengthOf(new Set(names), names.length)
    assert.lengthOf(Array.from(alerts.matchAll(/^ {8}expr: .+$/gm)), names.length)
    assert.lengthOf(
      Array.from(alerts.matchAll(/^ {8}annotations: \{ summary: ".+" \}$/gm)),
      names.length,
    )
  })
})
