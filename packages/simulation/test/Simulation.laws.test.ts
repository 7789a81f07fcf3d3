import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { allLaws, runOf } from "../src/Vocabulary.ts"
import { explain, Seeds } from "../src/Seeds.ts"

/** The same seeds in every run. */
const fixed = { from: 0, seeds: 700 }
/** Other seeds where `SIMULATE_FROM` is set; a failure names its seed. */
const fresh = { from: Config.Int("SIMULATE_FROM").pipe(Config.withDefault(1_000_000)), seeds: 300 }

let ran: Seeds | undefined

/** All laws are checked on the same runs, which are made once. */
const runs = Effect.map(fresh.from, (from) => {
  if (ran !== undefined) return ran
  const seeds = new Seeds()
  for (let seed = 0; seed < fixed.seeds; seed++) seeds.add(fixed.from + seed)
  for (let seed = 0; seed < fresh.seeds; seed++) seeds.add(from + seed)
  ran = seeds
  return seeds
})

const numbers = [...new Set(allLaws.map(({ law }) => law))]

describe("Simulation", () => {
  for (const number of numbers) {
    const statements = allLaws.flatMap((law) => (law.law === number ? [law.statement] : []))
    it.effect(
      `${number} ${statements.join("; ")}: under any interleaving and fault`,
      () =>
        Effect.map(runs, ({ failures }) => {
          const first = failures.find(({ laws }) => laws.includes(number))
          if (first !== undefined) assert.fail(explain(first.seed))
        }),
      300_000,
    )
  }

  it.each([
    [937, "L6 a node that is continued past its lease still accepts listeners"],
    [3822, "L13 a conversation that is used while it is being removed"],
    [16256, "L7 a crash in the middle of recording that the user aborts"],
    [23280, "L7 a crash in the middle of recording that another user aborts"],
    [34130, "L10 a fork whose parent has a submission with the same id"],
    [925001, "L10 a message whose response is lost, to a conversation that another node then has"],
    [947945, "L10 an archive mark that a node which was stopped still changes"],
    [1489561, "L16 an append in the millisecond in which a lease expires"],
  ])("seed %i: %s", (seed) => {
    assert.deepStrictEqual(runOf(seed).violations, [])
  })

  it(
    "L12 the same seed gives the same trace, byte for byte; another seed gives another trace",
    { timeout: 120_000 },
    () => {
      const text = (seed: number) => runOf(seed).text()
      const texts = Array.from({ length: 100 }, (_, seed) => text(seed))
      assert.deepStrictEqual(
        texts,
        Array.from({ length: 100 }, (_, seed) => text(seed)),
      )
      assert.strictEqual(new Set(texts).size, texts.length)
    },
  )

  it.effect("the seeds draw every operation and every fault", () =>
    Effect.map(runs, ({ operations, faults }) => {
      assert.deepStrictEqual([...operations.keys()].toSorted(), [
        "attach",
        "badPage",
        "cancel",
        "close",
        "create",
        "detach",
        "fork",
        "get",
        "list",
        "nodes archive",
        "nodes create",
        "nodes follow",
        "nodes fork",
        "nodes interrupt",
        "nodes list",
        "nodes pause",
        "nodes rename",
        "nodes send",
        "nodes unarchive",
        "pages",
        "pause",
        "remove",
        "stateless answer",
        "stateless call",
        "stateless cancel",
        "stateless change",
        "stateless discover",
        "stateless garbage",
        "stateless hello",
        "stateless listen",
        "stateless pause",
        "stateless task",
        "stateless yield",
        "submit",
        "thread archive",
        "thread compact",
        "thread fork",
        "thread forkByPath",
        "thread forkInMemory",
        "thread garbage",
        "thread import",
        "thread interrupt",
        "thread list",
        "thread name",
        "thread pause",
        "thread queueAdd",
        "thread queueDelete",
        "thread queueList",
        "thread queueReorder",
        "thread queueStart",
        "thread queueUpdate",
        "thread read",
        "thread resume",
        "thread revert",
        "thread start",
        "thread steer",
        "thread turn",
        "thread unarchive",
        "thread unsubscribe",
        "thread yield",
        "wire cancel",
        "wire codex",
        "wire garbage",
        "wire hello",
        "wire listen",
        "wire pause",
        "wire pulse",
        "wire reply",
        "wire yield",
        "yield",
      ])
      // Few calls of the store are of these kinds, and only the first calls have faults.
      const seldom = [
        "store append refused",
        "store delete",
        "store metadata",
        "store open",
        "store read",
      ]
      const names = [...faults.keys()].filter(
        (name) => !seldom.some((kind) => name.startsWith(kind)),
      )
      assert.deepStrictEqual(names.toSorted(), [
        "answer never",
        "caller gone",
        "conversation removed",
        "crash",
        "fork of no number",
        "listener dead",
        "listener leaves",
        "listener slow",
        "manager closed",
        "model defect",
        "model error",
        "model hang",
        "model overflow",
        "model retryable",
        "nodes call late",
        "nodes call lost",
        "nodes call lost answer",
        "nodes call twice",
        "nodes clock skew",
        "nodes cut refused",
        "nodes cut silent",
        "nodes database down",
        "nodes drain",
        "nodes kill",
        "nodes lock",
        "nodes lost after commit",
        "nodes lost before commit",
        "nodes move",
        "nodes part refused",
        "nodes part silent",
        "nodes slow",
        "nodes start",
        "nodes stop",
        "nodes turns run twice",
        "nodes two clusters",
        "op big",
        "op unsupported",
        "page garbage",
        "page limit",
        "page moved",
        "stateless answer elsewhere",
        "stateless answer half",
        "stateless answer nothing",
        "stateless answer tampered",
        "stateless answer wrong",
        "stateless bad cursor",
        "stateless batch",
        "stateless cancel",
        "stateless dropped",
        "stateless end of input",
        "stateless half a meta",
        "stateless no meta",
        "stateless no tool",
        "stateless old tasks",
        "stateless reader slow",
        "stateless reader stops",
        "stateless removed method",
        "stateless too late",
        "stateless undeclared tasks",
        "stateless unknown revision",
        "store append fails",
        "store append late",
        "store append slow",
        "store append stolen",
        "store create fails",
        "store create late",
        "store create slow",
        "store list fails",
        "store list late",
        "store list slow",
        "thread answer error",
        "thread answer never",
        "thread answer to nothing",
        "thread crash",
        "thread dropped",
        "thread empty input",
        "thread end of input",
        "thread no method",
        "thread no params",
        "thread no thread",
        "thread noise",
        "thread reader slow",
        "thread reader stops",
        "thread second process",
        "thread store append fails",
        "thread store append stolen",
        "thread store fails",
        "tool defect",
        "tool hang",
        "tool slow",
        "tool stubborn",
        "wire answer to nothing",
        "wire bad arguments",
        "wire bad params",
        "wire batch",
        "wire cancel",
        "wire dropped",
        "wire end of input",
        "wire no method",
        "wire no tool",
        "wire noise",
        "wire not UTF-8",
        "wire reader slow",
        "wire reader stops",
        "wire store append fails",
        "wire too long",
      ])
    }),
  )
})
