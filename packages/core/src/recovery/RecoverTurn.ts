/**
 * What becomes of a turn that the end of its process left open, and of what waited behind it. Pure.
 *
 * A turn whose calls did nothing but ask is parked: its questions stay open, and the first verdict takes it up again (L7). Any
 * other is closed with `turn_aborted`, its calls get outputs that say so (L11), unless the settings want it continued. Either
 * way it has one terminal event (L5).
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Duration from "effect/Duration"
import { closeUnanswered } from "../decider/ApprovalDecisions.ts"
import type { State } from "../decider/State.ts"
import { type Decision, followedBy, nothing } from "../decider/Decision.ts"
import type { Unfinished } from "./LogFold.ts"
import { outputFor } from "../log/History.ts"
import { eventCallIdOf, type OpenCall, onlyAsks } from "../log/OpenCalls.ts"
import { turnEnded, startNext } from "../decider/TurnEnd.ts"

/** How often a turn, or a call, begins at most: what kills its process each time is given up. */
export const maxAttempts = 3

/**
 * A turn that is taken up again may ask at once, but whoever loaded the conversation listens with a message of its own only:
 * so long a question waits for somebody before the setting `unattended` counts. Enough for a client that is busy, and
 * little for one that nobody will ever answer.
 */
const attachTime = Duration.seconds(5)

/** What a call without an output gets that had begun. */
export const cutOff =
  "the process ended while this call ran; it was cut off, and whether it took effect is not known"
/** Likewise, that had not. */
const notRun = "the process ended before this call ran; it did nothing"

export const outputOf = ({ call }: OpenCall, output: string): EventMsg => ({
  type: "raw_response_item",
  item: outputFor(call, output),
})

type Turn = NonNullable<State["turn"]>

const tell = (state: State, { id }: Turn, messages: ReadonlyArray<EventMsg>): Decision => ({
  ...nothing(state),
  events: messages.map((msg) => ({ id, msg })),
})

/** Every open question belongs to a call that did nothing but ask it. */
const isParkable = ({ approvals: { open } }: State, { calls }: Unfinished): boolean =>
  open.length > 0 &&
  calls.every(onlyAsks) &&
  open.every(({ request }) =>
    calls.some((open) => open.asks && eventCallIdOf(open) === request.callId),
  )

const park = (
  state: State,
  turn: Turn,
  { calls, questions }: Unfinished,
  nowMs: number,
): Decision => ({
  ...nothing({ ...state, turn: { ...turn, parked: calls } }),
  actions: state.approvals.open.flatMap(({ number, seq }) => {
    const expiresAtMs = questions.get(seq)?.expiresAtMs
    return expiresAtMs === undefined
      ? []
      : [
          {
            _tag: "RestoreDeadline",
            number,
            after: Duration.millis(Math.max(0, expiresAtMs - nowMs)),
          } as const,
        ]
  }),
})

/** The questions of calls that do not run again from their start are nobody's any more. */
const withdrawLost = (state: State, { calls }: Unfinished): Decision =>
  state.approvals.open.reduce<Decision>(
    (decision, { number, request }) =>
      calls.some((open) => onlyAsks(open) && eventCallIdOf(open) === request.callId)
        ? decision
        : followedBy(decision, (current) => closeUnanswered(current, number, "withdrawn")),
    nothing(state),
  )

const takeUpAgain = (state: State, turn: Turn, left: Unfinished): Decision => {
  const attempt = left.attempt + 1
  const message = `the process ended in the middle of this turn; it is taken up again, attempt ${attempt} of ${maxAttempts}`
  return followedBy(withdrawLost(state, left), (current) => ({
    ...tell({ ...current, approvals: { ...current.approvals, inGrace: true } }, turn, [
      { type: "background_event", message },
    ]),
    records: [{ _tag: "Attempt", turnId: turn.id, attempt }],
    actions: [
      { _tag: "StartGrace", within: attachTime },
      { _tag: "StartTurn", id: turn.id, calls: left.calls },
    ],
  }))
}

const close = (state: State, turn: Turn, left: Unfinished): Decision => {
  const given =
    left.attempt >= maxAttempts
      ? [`the process ended ${left.attempt} times in the middle of this turn; it is given up`]
      : []
  return followedBy(
    tell(state, turn, [
      ...left.calls.map((open) => outputOf(open, open.started === undefined ? notRun : cutOff)),
      ...given.map((message): EventMsg => ({ type: "background_event", message })),
    ]),
    (current) => turnEnded(current, turn.id, { _tag: "Interrupted" }),
  )
}

/** The first decision of another life; `state` is that of `restore`. */
export const recoverTurn = (state: State, left: Unfinished, nowMs: number): Decision => {
  const { turn } = state
  if (turn === undefined) return startNext(state)
  if (turn.aborting === undefined && left.hasInput) {
    if (isParkable(state, left)) return park(state, turn, left, nowMs)
    if (state.settings.onRestart === "continue" && left.attempt < maxAttempts) {
      return takeUpAgain(state, turn, left)
    }
  }
  return close(state, turn, left)
}
