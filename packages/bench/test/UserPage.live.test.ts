import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type { Report } from "../src/user/Figures.ts"
import * as Text from "../src/user/Text.ts"

const docs = `${import.meta.dirname}/../../docs`
const read = (file: string) => readFileSync(`${docs}/${file}`, "utf8")

/** Without the spaces and dashes with which the formatter aligns a table. */
const loose = (page: string) => page.replaceAll(/ +/g, " ").replaceAll(/-+(:?) /g, "-$1 ")

describe("the documentation of the benchmark user", () => {
  it("has the section and the chart of the stored figures", () => {
    const report = JSON.parse(read("benchmarks/user.json")) as Report
    const page = read("benchmarks.md")
    assert.strictEqual(loose(Text.paged(page, report)), loose(page))
    assert.strictEqual(read("benchmarks/user.svg"), Text.chart(report.phases))
  })
})
