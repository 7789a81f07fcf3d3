import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ChildProcess from "node:child_process"
import * as FS from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { assignedAfter, ProcessGroup } from "../../src/process/ProcessGroup.ts"

/** A shell in its own group; returns the process id that it prints first. */
const started = (script: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = ChildProcess.spawn("bash", ["-c", script], { detached: true })
      const printed = await new Promise((resolve) => child.stdout.once("data", resolve))
      return { child, pid: child.pid ?? 0, printed: Number(String(printed)) }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL")),
  )

const stateOf = (pid: number) => /\) (.)/.exec(FS.readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]

describe.skipIf(process.platform !== "linux")("ProcessGroup", () => {
  it.live("finds a group with a running member, and signals all of it", () =>
    Effect.gen(function* () {
      const { lives, signal } = yield* ProcessGroup
      const { child, pid } = yield* started("sleep 60 & echo $!; wait")
      assert.isTrue(yield* lives(pid))
      const gone = new Promise((resolve) => child.once("close", resolve))
      assert.isTrue(yield* signal(pid, "SIGKILL"))
      // The output closes once the second process, which also holds the pipe, has ended.
      yield* Effect.promise(() => gone)
      assert.isFalse(yield* lives(pid))
    }).pipe(Effect.provide(ProcessGroup.layer)),
  )

  it.live("treats a group of dead processes that were not waited for as ended", () =>
    Effect.gen(function* () {
      const { lives } = yield* ProcessGroup
      // The second process leads a separate group and ends; its parent becomes a program that never waits for it.
      const { printed } = yield* started("setsid true & echo $!; exec sleep 60")
      yield* Effect.promise(async () => {
        while (stateOf(printed) !== "Z") await sleep(5)
      })
      assert.isTrue(process.kill(-printed, 0))
      assert.isFalse(yield* lives(printed))
    }).pipe(Effect.provide(ProcessGroup.layer)),
  )

  it.live("signals no process of a group that never existed", () =>
    Effect.gen(function* () {
      const { lives, signal } = yield* ProcessGroup
      assert.isFalse(yield* lives(2 ** 30))
      assert.isFalse(yield* signal(2 ** 30, "SIGKILL"))
    }).pipe(Effect.provide(ProcessGroup.layer)),
  )
})

describe("ids that were assigned after another one", () => {
  it.each([
    ["later ids", [1, 50, 100, 101, 105], 100, 105, [101, 105]],
    ["none of an earlier round, which are above the last one", [1, 101, 30_000], 100, 101, [101]],
    ["ids of both rounds after a wrap", [1, 7, 90, 100, 32_000], 100, 7, [1, 7, 32_000]],
    ["none where the program's own id is the last", [1, 100, 32_000], 100, 100, []],
  ])("L8 are %s", (_, all, bornAfter, last, expected) => {
    assert.deepStrictEqual(assignedAfter(all, bornAfter, last), expected)
  })
})
