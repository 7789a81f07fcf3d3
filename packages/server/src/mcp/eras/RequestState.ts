/**
 * What a client keeps for the server between the rounds of one call (`requestState`): sealed, for a time, good for the
 * same method, params and principal alone, and used up by the run that comes to an end with it. What comes back is
 * hostile until it was opened.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { memberOf, presentMembers } from "@colloquy/protocol/NullAsAbsent"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import { once } from "@colloquy/protocol/Once"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { Sealer } from "../../Sealer.ts"
import type { SharedState } from "../../Server.ts"
import { type Members, OtherResult } from "../RequestContext.ts"
import { canonicalJson } from "./CanonicalJson.ts"
import { isMembers } from "./Capabilities.ts"

/** The `resultType` of a question. */
export const inputRequired = "input_required"

/** Made when the first state comes back: a start does not wait for it. */
const makeState = () => {
  const Open = Schema.Record(Schema.String, Schema.Unknown)
  return Schema.Struct({
    /** Milliseconds of the epoch. */
    expiresAt: Schema.Finite,
    /** Keys of what was asked last. */
    asked: Schema.Array(Schema.String),
    /** What was answered, in all rounds. */
    answers: Open,
    /** What was done and must not be done again. */
    done: Open,
    /** Of a handler that keeps its own. */
    own: Schema.optionalKey(Schema.Unknown),
  })
}
type State = ReturnType<typeof makeState>["Type"]

/** What a client came back with. */
export interface Resumed {
  readonly state: State
  /** To what was asked last, of any shape. */
  readonly responses: Members
}

/** Seals the state of a call that waits for answers, and opens the state that a client sends back. */
export interface RequestStates {
  /** True for a call with a state, usable or not. */
  readonly isResumed: (call: Call) => boolean
  readonly open: (call: Call) => Effect.Effect<Resumed, JsonRpcError>
  /** Fails when there is more to keep than a client should have to carry. */
  readonly seal: (
    call: Call,
    state: Omit<State, "expiresAt">,
  ) => Effect.Effect<string, JsonRpcError>
  /**
   * The run of a call that came with a state: no other run of the same state may go on at the same time, nor begin
   * when it ended with an answer.
   */
  readonly using: <A, E>(call: Call, run: Effect.Effect<A, E>) => Effect.Effect<A, E | JsonRpcError>
}

/** A call, as far as a state is bound to it. */
export interface Call {
  readonly method: string
  /** As they came. */
  readonly params: unknown
  readonly principal: string
}

/** A person has to come back to what was asked, and the day goes on. */
const timeToLiveMs = Duration.toMillis("1 hour")

/** More than is asked in an hour; the oldest are forgotten, and would then be good again until they expire. */
const maxUsed = 8192

/** UTF-16 units of JSON. It goes to and fro in every round. */
const maxLength = 256 * 1024

const tooLong = () =>
  new JsonRpcError({
    code: ErrorCode.internalError,
    message: `the answers of this call are too long to keep: more than ${maxLength} characters`,
  })

const refused = (why: string) =>
  new JsonRpcError({
    code: ErrorCode.invalidParams,
    message: `Invalid params: params.requestState ${why}; call again without it`,
  })

/** Members of the params that change from round to round. */
const own: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState"])

const purposeOf = ({ method, params, principal }: Call): string =>
  canonicalJson([
    "requestState",
    principal,
    method,
    isMembers(params)
      ? Object.fromEntries(
          Object.entries(presentMembers(params)).filter(([name]) => !own.has(name)),
        )
      : {},
  ])

/** The answers that a call brings, of any shape; none where they are no object. */
export const responsesOf = ({ params }: Call): Members => {
  const responses = memberOf(params, "inputResponses")
  return isMembers(responses) ? responses : {}
}

const stateText = ({ params }: Call): string | undefined => {
  const text = memberOf(params, "requestState")
  return typeof text === "string" ? text : undefined
}

const decoder = once(() => Schema.decodeUnknownOption(makeState()))

const read = (text: string): State | undefined => {
  try {
    const state = decoder()(JSON.parse(text))
    return state._tag === "Some" ? state.value : undefined
  } catch {
    return undefined
  }
}

/** False for a run that was interrupted, and for one that asks again. */
const isAnswer = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isSuccess(exit)
    ? !(exit.value instanceof OtherResult && exit.value.resultType === inputRequired)
    : exit.cause.reasons.some(Cause.isFailReason)

/** States that ended a call, or are with a run of one. */
const used = () => {
  const ends = new Set<string>()
  // No two seals end alike; the rest may be long.
  const endOf = (text: string) => text.slice(-64)
  return {
    take: (text: string): boolean => {
      const end = endOf(text)
      if (ends.has(end)) return false
      const oldest = ends.size < maxUsed ? undefined : ends.values().next().value
      if (oldest !== undefined) ends.delete(oldest)
      ends.add(end)
      return true
    },
    free: (text: string) => ends.delete(endOf(text)),
  }
}

/** @param sealer seals the states, and opens those that it sealed */
export const make = (sealer: Sealer["Service"]): RequestStates => {
  const book = used()

  const open: RequestStates["open"] = (call) =>
    Effect.gen(function* (): Effect.fn.Return<Resumed, JsonRpcError> {
      const given = stateText(call)
      if (given === undefined) return yield* refused("has to be a string")
      const responses = memberOf(call.params, "inputResponses") ?? {}
      if (!isMembers(responses)) {
        return yield* new JsonRpcError({
          code: ErrorCode.invalidParams,
          message: "Invalid params: params.inputResponses: expected an object",
        })
      }
      const text = yield* sealer.open(purposeOf(call), given)
      const state = text === undefined ? undefined : read(text)
      if (state === undefined) return yield* refused("is not one of this call")
      if (state.expiresAt <= (yield* Clock.currentTimeMillis)) return yield* refused("has expired")
      const asked = state.asked.filter((key) => memberOf(responses, key) !== undefined)
      return { state, responses: Object.fromEntries(asked.map((key) => [key, responses[key]])) }
    })

  const seal: RequestStates["seal"] = (call, state) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const whole: State = { expiresAt: nowMs + timeToLiveMs, ...state }
      const text = JSON.stringify(whole)
      return text.length > maxLength ? Effect.fail(tooLong()) : sealer.seal(purposeOf(call), text)
    })

  const using = <A, E>(call: Call, run: Effect.Effect<A, E>): Effect.Effect<A, E | JsonRpcError> =>
    Effect.suspend((): Effect.Effect<A, E | JsonRpcError> => {
      const text = stateText(call)
      if (text === undefined) return run
      if (!book.take(text)) return Effect.fail(refused("was used already"))
      return Effect.onExit(run, (exit) =>
        Effect.sync(() => {
          if (!isAnswer(exit)) book.free(text)
        }),
      )
    })

  const isResumed: RequestStates["isResumed"] = ({ params }) =>
    memberOf(params, "requestState") !== undefined

  return { isResumed, open, seal, using }
}

/** The request states of one server: a state that was used on one connection counts as used on all of them. */
export const requestStates: SharedState<RequestStates> = {
  make: ({ sealer }) => Effect.sync(() => make(sealer)),
}
