import { assert, describe, it } from "@effect/vitest"
import * as Table from "../src/Table.ts"

describe("Table", () => {
  it("stands in columns, aims and their verdicts beside the figures", () => {
    const rows: ReadonlyArray<Table.Row> = [
      {
        name: "start",
        value: "55 ms",
        beside: "bare Node 25 ms",
        aim: { text: "<= 3 times", met: true },
      },
      { name: "resident memory", value: "56 MB" },
      { name: "turn", value: "2.5 ms", aim: { text: "< 2 ms", met: false } },
    ]
    assert.deepStrictEqual(Table.render(rows).split("\n"), [
      "measured         figure  beside           aim         met",
      "---------------  ------  ---------------  ----------  ---",
      "start            55 ms   bare Node 25 ms  <= 3 times  yes",
      "resident memory  56 MB",
      "turn             2.5 ms                   < 2 ms      no",
    ])
  })

  it("gives milliseconds three digits that say something", () => {
    assert.deepStrictEqual([0.123, 1.234, 12.34, 123.4].map(Table.ms), [
      "0.12 ms",
      "1.23 ms",
      "12.3 ms",
      "123 ms",
    ])
  })

  it("groups the digits of rates and counts megabytes in tens, kibibytes in twos", () => {
    assert.strictEqual(Table.perSecond(1_234_567.8), "1,234,568/s")
    assert.strictEqual(Table.megabytes(56_780_000), "56.8 MB")
    assert.strictEqual(Table.kibibytes(8192), "8.0 KiB")
  })
})
