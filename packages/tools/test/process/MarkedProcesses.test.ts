import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { isMarked, markOf, prefixRange } from "../../src/process/ProcessMark.ts"
import { ProcessesNotShown, type ProcessGroup } from "../../src/process/ProcessGroup.ts"
import { killMarked } from "../../src/process/MarkedProcesses.ts"

const mark = markOf(1_234_567_890, 7)

const limitsWith = (soft: string): string =>
  [
    "Limit                     Soft Limit           Hard Limit           Units     ",
    `Max file locks            ${soft.padEnd(20)} unlimited            locks     `,
    "Max pending signals       123456789000000007   123456789000000007   signals   ",
  ].join("\n")

/** Processes by their ids; each has the text of its limits, and what happens when it is read. */
const machine = (processes: Map<number, string>, onRead: (pid: number) => void = () => {}) => {
  const killed: Array<number> = []
  const asked: Array<number | undefined> = []
  const group: ProcessGroup["Service"] = {
    signal: () => Effect.succeed(false),
    lives: () => Effect.succeed(false),
    ids: (bornAfter) =>
      Effect.sync(() => {
        asked.push(bornAfter)
        return [...processes.keys()]
      }),
    limitsOf: (pid) =>
      Effect.sync(() => {
        onRead(pid)
        return processes.get(pid) ?? ""
      }),
    kill: (pid) =>
      Effect.sync(() => {
        if (pid === 66) return false
        killed.push(pid)
        processes.delete(pid)
        return true
      }),
  }
  return { group, killed, asked }
}

const ended = (group: ProcessGroup["Service"]) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(killMarked(group, { mark, pid: 5, startedAtNanos: 0n }))
    yield* TestClock.adjust("2 seconds")
    yield* Fiber.join(fiber)
  })

describe("the mark of a program", () => {
  it("is the soft limit on file locks alone", () => {
    assert.isTrue(isMarked(limitsWith(mark), mark))
    assert.isFalse(isMarked(limitsWith("unlimited"), mark))
    assert.isFalse(isMarked(limitsWith(markOf(1_234_567_890, 8)), mark))
    assert.isFalse(isMarked(limitsWith("unlimited"), "123456789000000007"))
    assert.isFalse(isMarked("", mark))
  })

  it("has as many digits for each program, and fits in 63 bits", () => {
    for (const prefix of prefixRange) {
      for (const count of [0, 1, 99_999_999, 100_000_000, Number.MAX_SAFE_INTEGER]) {
        assert.match(markOf(prefix, count), /^[1-9]\d{17}$/)
        assert.isTrue(BigInt(markOf(prefix, count)) < 2n ** 63n)
      }
    }
  })
})

describe("endMarked", () => {
  it.effect("L8 kills processes with the mark, and nothing else", () =>
    Effect.gen(function* () {
      const { asked, group, killed } = machine(
        new Map([
          [4, limitsWith("unlimited")],
          [6, limitsWith(mark)],
          [7, limitsWith(markOf(1_234_567_890, 8))],
          [8, limitsWith(mark)],
        ]),
      )
      yield* ended(group)
      assert.deepStrictEqual(killed, [6, 8])
      // For a program that started recently, only processes with later ids are read.
      assert.strictEqual(asked[0], 5)
    }),
  )

  it.effect("L8 finds a process whose parent ended while it was being read", () =>
    Effect.gen(function* () {
      const processes = new Map([[6, limitsWith(mark)]])
      const { group, killed } = machine(processes, (pid) => {
        if (pid !== 6) return
        processes.delete(6)
        processes.set(9, limitsWith(mark))
      })
      yield* ended(group)
      assert.deepStrictEqual(killed, [9])
    }),
  )

  it.effect("L8 reads all processes when the program has run for a second", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(Duration.seconds(1))
      const { asked, group, killed } = machine(new Map([[3, limitsWith(mark)]]))
      yield* ended(group)
      assert.deepStrictEqual(killed, [3])
      assert.isUndefined(asked[0])
    }),
  )

  it.effect("ends although a process belongs to another user, or never ends", () =>
    Effect.gen(function* () {
      const foreign = machine(new Map([[66, limitsWith(mark)]]))
      yield* ended(foreign.group)
      assert.lengthOf(foreign.asked, 1)
      const stuck = machine(new Map())
      const group = {
        ...stuck.group,
        ids: () => Effect.succeed([6]),
        limitsOf: () => Effect.succeed(limitsWith(mark)),
      }
      yield* ended(group)
      assert.lengthOf(stuck.killed, 16)
    }),
  )

  it.effect("L8 repeats a pass that could not see the processes, and kills what it missed", () =>
    Effect.gen(function* () {
      const { group, killed } = machine(
        new Map([
          [6, limitsWith(mark)],
          [8, limitsWith(mark)],
        ]),
      )
      let readings = 0
      const failing = <A>(answer: Effect.Effect<A, ProcessesNotShown>) =>
        Effect.suspend(() =>
          [1, 3].includes(++readings)
            ? Effect.fail(new ProcessesNotShown({ code: "EMFILE" }))
            : answer,
        )
      yield* ended({
        ...group,
        ids: (bornAfter) => failing(group.ids(bornAfter)),
        // A process whose limits cannot be read has not ended.
        limitsOf: (pid) => (pid === 8 ? failing(group.limitsOf(pid)) : group.limitsOf(pid)),
      })
      assert.deepStrictEqual(killed, [6, 8])
    }),
  )

  it.effect("L8 fails when the processes cannot be seen for half a second", () =>
    Effect.gen(function* () {
      const { group } = machine(new Map())
      let passes = 0
      const blind = {
        ...group,
        ids: () =>
          Effect.suspend(() => {
            passes++
            return Effect.fail(new ProcessesNotShown({ code: "EMFILE" }))
          }),
      }
      const failure = yield* Effect.flip(ended(blind))
      assert.strictEqual(failure.code, "EMFILE")
      assert.strictEqual(passes, 16)
    }),
  )
})
