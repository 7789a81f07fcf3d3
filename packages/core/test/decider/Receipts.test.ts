import { assert, describe, it } from "@effect/vitest"
import * as Hash from "effect/Hash"
import {
  nextAutomatic,
  isSpent,
  keep,
  maxReceipts,
  none,
  receiptOf,
  spend,
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
    assert.strictEqual(receipts.kept.length, 1024)
    assert.strictEqual(receipts.hashes.length, 1024)
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
    assert.strictEqual(again.kept.length, 1024)
    assert.deepStrictEqual(receiptOf(again, "n0"), started)
    const later = keep(again, "n1024", receipt("n1024"))
    assert.isUndefined(receiptOf(later, "n1"))
    assert.deepStrictEqual(receiptOf(later, "n0"), started)
  })

  it("leaves the receipt of an id that occurs in the log as it is", () => {
    const waiting = { id: "x", disposition: "waiting" } as const
    assert.deepStrictEqual(receiptOf(spend(keep(none, "x", waiting), "x"), "x"), waiting)
    assert.deepStrictEqual(receiptOf(spend(none, "x"), "x"), { id: "x", disposition: "started" })
  })

  it("finds the receipt of each id, also where the hashes of two are the same", () => {
    const [one, other] = ['#"', "@!"] as const
    assert.strictEqual(Hash.string(one), Hash.string(other))
    const receipts = chosen([one, "x", other, "y"])
    for (const id of [one, "x", other, "y"]) {
      assert.deepStrictEqual(receiptOf(receipts, id), receipt(id))
    }
    const joined = { id: "turn", disposition: "joined" } as const
    const again = keep(receipts, other, joined)
    assert.deepStrictEqual(receiptOf(again, one), receipt(one))
    assert.deepStrictEqual(receiptOf(again, other), joined)
  })
})
