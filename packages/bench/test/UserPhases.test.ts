import { assert, describe, it } from "@effect/vitest"
import { medians, phasesOf } from "../src/user/Phases.ts"

const turn = { sentNs: 0n, answeredNs: 20_000_000n }

/** The phases of a turn whose marks are at those ms after the request. */
const phasesWith = (times: Readonly<Record<string, ReadonlyArray<number>>>) =>
  phasesOf(
    turn,
    Object.entries(times).flatMap(([name, all]) =>
      all.map((ms) => ({ name, atNs: BigInt(ms) * 1_000_000n })),
    ),
  )

const spanOf = (phases: ReturnType<typeof phasesOf>, title: string) => {
  const phase = phases.find((one) => one.title === title)
  return phase === undefined ? [] : [phase.fromMs, phase.untilMs]
}

const fast = {
  syncing: [1, 10],
  synced: [3, 12],
  asking: [2],
  came: [4],
  wrote: [5],
}

describe("the phases of a reply", () => {
  it("part a turn at the marks of its processes", () => {
    assert.deepStrictEqual(
      phasesWith(fast).map(({ fromMs, untilMs }) => [fromMs, untilMs]),
      [
        [0, 1],
        [1, 3],
        [2, 4],
        [4, 5],
        [5, 10],
        [10, 12],
        [12, 20],
      ],
    )
  })

  it("count a sync that ends after the provider's answer as that of the input", () => {
    const phases = phasesWith({ ...fast, synced: [7, 12] })
    assert.deepStrictEqual(spanOf(phases, "input recorded and synced"), [1, 7])
    assert.deepStrictEqual(spanOf(phases, "answer recorded and synced"), [10, 12])
  })

  it("leave a turn that lacks a mark of a phase out of both medians of it", () => {
    const lacking = phasesWith({ ...fast, syncing: [8], synced: [9] })
    const slow = phasesWith({ ...fast, syncing: [2, 10], synced: [4, 12] })
    assert.deepStrictEqual(spanOf(lacking, "input recorded and synced"), [Number.NaN, Number.NaN])
    assert.deepStrictEqual(
      spanOf(medians([lacking, phasesWith(fast), slow]), "input recorded and synced"),
      [1.5, 3.5],
    )
  })
})
