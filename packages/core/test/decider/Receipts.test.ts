import { assert, describe, it } from "@effect/vitest"
import {
  nextAutomatic,
  isSpent,
  keep,
  mayHave,
  none,
  receiptOf,
  spend,
  withoutIds,
} from "../../src/decider/Receipts.ts"

const receipt = (id: string) => ({ id, disposition: "none" }) as const

/** The state after clients have submitted ops with these ids, in this order. */
const chosen = (ids: ReadonlyArray<string>) =>
  ids.reduce((receipts, id) => keep(receipts, id, receipt(id)), none)

const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)

describe("Receipts", () => {
  it("keeps each one, however many follow", () => {
    const receipts = chosen(names(3000))
    for (const id of names(3000)) assert.deepStrictEqual(receiptOf(receipts, id), receipt(id))
    assert.isUndefined(receiptOf(receipts, "n3000"))
  })

  it("keeps the receipt of a submission that joined a turn, with the id of that turn", () => {
    const joined = { id: "turn", disposition: "joined" } as const
    assert.deepStrictEqual(receiptOf(keep(none, "x", joined), "x"), joined)
    assert.isUndefined(receiptOf(keep(none, "x", joined), "turn"))
  })

  it("gives no automatic id that a client has chosen", () => {
    const receipts = chosen(["0", "1", "3", "x", "9007199254740993"])
    const { id, receipts: next } = nextAutomatic(receipts)
    assert.strictEqual(id, "2")
    assert.strictEqual(nextAutomatic(next).id, "4")
    assert.isTrue(isSpent(next, "2"))
    assert.isFalse(isSpent(next, "4"))
    assert.isFalse(isSpent(next, "x"))
    assert.isFalse(isSpent(next, "9007199254740993"))
  })

  it("keeps the numbers of a client that counts its ids, and automatic ids follow them", () => {
    const receipts = chosen(Array.from({ length: 2000 }, (_, i) => String(i)))
    for (const id of ["0", "500", "1999"]) {
      assert.deepStrictEqual(receiptOf(receipts, id), receipt(id))
    }
    assert.strictEqual(receipts.nextId, 2000)
    assert.strictEqual(nextAutomatic(receipts).id, "2000")
  })

  it("replaces the receipt of an id that has one, whether it is new or old", () => {
    const started = { id: "n0", disposition: "started" } as const
    for (const count of [1, 100]) {
      assert.deepStrictEqual(receiptOf(keep(chosen(names(count)), "n0", started), "n0"), started)
    }
  })

  it("leaves the receipt of an id that occurs in the log as it is", () => {
    const waiting = { id: "x", disposition: "waiting" } as const
    assert.deepStrictEqual(receiptOf(spend(keep(none, "x", waiting), "x"), "x"), waiting)
    assert.deepStrictEqual(receiptOf(spend(none, "x"), "x"), { id: "x", disposition: "started" })
  })

  it("sends no ids to another process, to which any id may then have been submitted", () => {
    const sent = withoutIds(chosen(["0", ...names(3000)]))
    assert.deepStrictEqual(sent, { nextId: 1 })
    assert.isUndefined(receiptOf(sent, "n1"))
    assert.isTrue(mayHave(sent, "n1"))
    assert.isTrue(mayHave(chosen(["n1"]), "n1"))
    assert.isFalse(mayHave(chosen(["n1"]), "n2"))
  })
})
