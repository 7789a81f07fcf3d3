/**
 * What happens to a turn whose process ended during it, and to the submissions queued behind it. Pure.
 *
 *     unfinished turn ── its calls only asked questions ─────────▶ parked: questions stay pending, the first verdict
 *           │                                                      resumes the turn (L7)
 *           ├── `onRestart` is `continue`, attempts are left ────▶ resumed: its calls are replayed first
 *           └── otherwise ───────────────────────────────────────▶ closed: `turn_aborted`, and outputs that say so for
 *                                                                  its calls (L11)
 *
 * In every case the turn has one terminal event in the end (L5), and an input that waited for the turn is recorded (L10).
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
import { openingEvents } from "../decider/TurnStart.ts"

/** Most attempts of a turn or a call. One that ends its process each time is not tried again. */
export const maxAttempts = 3

/**
 * Grace period after a restart. A resumed turn may ask at once, but the client that loaded the conversation attaches only
 * with its next message. A question waits this long before the setting `unattended` applies: enough for a busy client, and
 * short where no client comes.
 */
const gracePeriod = Duration.seconds(5)

/** Output of a call that had started and has none. */
export const interruptedOutput =
  "the process ended while this call ran; it was interrupted, and whether it took effect is unknown"
/** Output of a call that had not started. */
const notRunOutput = "the process ended before this call ran; it had no effect"

/** The event with the output of a call that does not run again. */
export const outputOf = ({ call }: OpenCall, output: string): EventMsg => ({
  type: "raw_response_item",
  item: outputFor(call, output),
})

type Turn = NonNullable<State["turn"]>

const emitted = (state: State, { id }: Turn, messages: ReadonlyArray<EventMsg>): Decision => ({
  ...nothing(state),
  events: messages.map((msg) => ({ id, msg })),
})

/** True when every pending question belongs to a call that did nothing but ask it. */
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

/** Withdraws the questions of calls that do not run again from their start. */
const withdrawOthers = (state: State, { calls }: Unfinished): Decision =>
  state.approvals.open.reduce<Decision>(
    (decision, { number, request }) =>
      calls.some((open) => onlyAsks(open) && eventCallIdOf(open) === request.callId)
        ? decision
        : followedBy(decision, (current) => closeUnanswered(current, number, "withdrawn")),
    nothing(state),
  )

const resume = (state: State, turn: Turn, left: Unfinished): Decision => {
  const attempt = left.attempt + 1
  const message = `the process ended during this turn; the turn is resumed, attempt ${attempt} of ${maxAttempts}`
  return followedBy(withdrawOthers(state, left), (current) => ({
    ...emitted({ ...current, approvals: { ...current.approvals, inGrace: true } }, turn, [
      { type: "background_event", message },
    ]),
    records: [{ _tag: "Attempt", turnId: turn.id, attempt }],
    actions: [
      { _tag: "StartGrace", within: gracePeriod },
      { _tag: "StartTurn", id: turn.id, calls: left.calls },
    ],
  }))
}

const close = (state: State, turn: Turn, left: Unfinished): Decision => {
  const reasons =
    left.attempt >= maxAttempts
      ? [`the process ended ${left.attempt} times during this turn; the turn is aborted`]
      : []
  return followedBy(
    emitted(state, turn, [
      ...left.calls.map((open) =>
        outputOf(open, open.started === undefined ? notRunOutput : interruptedOutput),
      ),
      ...reasons.map((message): EventMsg => ({ type: "background_event", message })),
    ]),
    (current) => turnEnded(current, turn.id, { _tag: "Interrupted" }),
  )
}

/** What happens to a turn whose input is recorded. */
const recoverStarted = (state: State, turn: Turn, left: Unfinished, nowMs: number): Decision => {
  if (turn.aborting === undefined && left.hasInput) {
    if (isParkable(state, left)) return park(state, turn, left, nowMs)
    // A review that has its end needs no further request.
    const isReviewed = turn.review === "ended"
    if (state.settings.onRestart === "continue" && left.attempt < maxAttempts && !isReviewed) {
      return resume(state, turn, left)
    }
  }
  return close(state, turn, left)
}

/** The first decision after a load. `state` is that of `restoreState`. */
export const recoverTurn = (state: State, left: Unfinished, nowMs: number): Decision => {
  const { turn } = state
  if (turn === undefined) return startNext(state, "waiting")
  const { cut } = left
  if (cut === undefined) return recoverStarted(state, turn, left, nowMs)
  const rest = openingEvents(cut.submission).slice(cut.recorded)
  return followedBy({ ...nothing(state), events: rest }, (current) =>
    recoverStarted(current, turn, { ...left, hasInput: true }, nowMs),
  )
}
