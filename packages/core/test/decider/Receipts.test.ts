import { assert, describe, it } from "@effect/vitest"
import * as HashMap from "effect/HashMap"
import {
  fromPlain,
  nextAutomatic,
  isSpent,
  keep,
  maxReceipts,
  none,
  receiptOf,
  toPlain,
} from "../../src/decider/Receipts.ts"

const receipt = (id: string) => ({ id, disposition: "none" }) as const

/** The state after clients have submitted ops with these ids, in this order. */
const chosen = (ids: ReadonlyArray<string>) =>
  ids.reduce((receipts, id) => keep(receipts, id, receipt(id)), none)

const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)

describe("Receipts", () => {
  it("keeps the last 1,024 and no more", () => {
    const receipts = chosen(names(3000))
    assert.strictEqual(maxReceipts, 1024)
    assert.strictEqual(receipts.order.length, 1024)
    assert.strictEqual(HashMap.size(receipts.kept), 1024)
    assert.isUndefined(receiptOf(receipts, "n1975"))
    assert.deepStrictEqual(receiptOf(receipts, "n1976"), receipt("n1976"))
    assert.deepStrictEqual(receiptOf(receipts, "n2999"), receipt("n2999"))
  })

  it("keeps the receipt of a submission that joined a turn, with the id of that turn", () => {
    const joined = { id: "turn", disposition: "joined" } as const
    assert.deepStrictEqual(receiptOf(keep(none, "x", joined), "x"), joined)
    assert.isUndefined(receiptOf(keep(none, "x", joined), "turn"))
  })

  it("never repeats the id of a submission whose receipt was dropped", () => {
    const receipts = chosen(["5", "x", "9007199254740993", ...names(1024)])
    assert.isTrue(isSpent(receipts, "5"))
    assert.isFalse(isSpent(receipts, "6"))
    assert.isFalse(isSpent(receipts, "x"))
    assert.isFalse(isSpent(receipts, "9007199254740993"))
    assert.strictEqual(nextAutomatic(receipts).id, "6")
  })

  it("keeps the numbers of a client that counts its ids in use for good", () => {
    const receipts = chosen(Array.from({ length: 2000 }, (_, i) => String(i)))
    for (const id of ["0", "500", "975"]) assert.isTrue(isSpent(receipts, id), id)
    assert.deepStrictEqual(receiptOf(receipts, "976"), receipt("976"))
    assert.strictEqual(nextAutomatic(receipts).id, "2000")
  })

  it("replaces the receipt of an id that has one, which is the newest then", () => {
    const started = { id: "n0", disposition: "started" } as const
    const again = keep(chosen(names(1024)), "n0", started)
    assert.strictEqual(again.order.length, 1024)
    assert.deepStrictEqual(receiptOf(again, "n0"), started)
    const later = keep(again, "n1024", receipt("n1024"))
    assert.isUndefined(receiptOf(later, "n1"))
    assert.deepStrictEqual(receiptOf(later, "n0"), started)
  })

  it("is the same from its plain data, also as JSON", () => {
    const receipts = { ...chosen(["5", "x", ...names(1030)]), nextId: 7 }
    const again = fromPlain(JSON.parse(JSON.stringify(toPlain(receipts))))
    assert.deepStrictEqual(toPlain(again), toPlain(receipts))
    assert.deepStrictEqual(again.order, receipts.order)
    assert.deepStrictEqual(receiptOf(again, "n1029"), receipt("n1029"))
    assert.isUndefined(receiptOf(again, "n5"))
    assert.strictEqual(nextAutomatic(keep(again, "y", receipt("y"))).id, "7")
  })
})
