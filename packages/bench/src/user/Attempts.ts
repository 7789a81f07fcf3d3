/** Runs a scenario again where a peer has not answered, so that a peer that loses a request does not end the benchmark. */
import * as Effect from "effect/Effect"
import type { Contender } from "./Contender.ts"
import type { FigureKey } from "./Figures.ts"
import type { Add, Scenario, Setting } from "./Scenarios.ts"
import { NoAnswer } from "./Session.ts"

/** Attempts with one peer at one scenario of one run. */
const maxAttempts = 3

/** What one attempt has measured. */
type Measured = ReadonlyArray<readonly [key: FigureKey, value: number]>

const attempt = (scenario: Scenario, contender: Contender, setting: Setting) =>
  Effect.suspend(() => {
    const measured: Array<readonly [key: FigureKey, value: number]> = []
    return Effect.as(
      scenario(contender, setting, (key, value) => measured.push([key, value])),
      measured as Measured,
    )
  })

/**
 * Runs a scenario with one server, and adds the samples of the attempt that was answered. An attempt that a peer does not
 * answer adds none, and is made again with a new process; `unanswered` is called for it. A server that is not a peer has
 * one attempt, and dies if it does not answer.
 */
export const attempted = Effect.fnUntraced(function* (
  scenario: Scenario,
  contender: Contender,
  setting: Setting,
  { add, unanswered }: { readonly add: Add; readonly unanswered: () => void },
) {
  const once = attempt(scenario, contender, setting)
  for (let made = 1; made <= maxAttempts; made++) {
    const measured =
      contender.kind === "peer"
        ? yield* Effect.catchDefect(once, (defect) =>
            defect instanceof NoAnswer ? Effect.succeed(undefined) : Effect.die(defect),
          )
        : yield* once
    if (measured !== undefined) {
      for (const [key, value] of measured) add(key, value)
      return
    }
    unanswered()
  }
})
