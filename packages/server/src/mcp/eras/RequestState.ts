/**
 * The state of a call that the client carries between the requests of that call (`requestState`). The state is sealed,
 * expires, and is valid only for the same method, params and principal. A run that completes the call consumes its
 * state. The text that a client sends back is untrusted until it has been opened.
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

/** The `resultType` of a result that asks the client questions. */
export const inputRequired = "input_required"

/** Builds the schema of a state. Called when the first state is sent back, so that the start does not wait for it. */
const makeState = () => {
  const Open = Schema.Record(Schema.String, Schema.Unknown)
  return Schema.Struct({
    /** Milliseconds since the epoch. */
    expiresAt: Schema.Finite,
    /** Keys of the questions in the response to the last request. */
    asked: Schema.Array(Schema.String),
    /** The answers in all earlier requests, by question key. */
    answers: Open,
    /** Results of the effects that must not run again, by the key given to `once`. */
    done: Open,
    /** State of a handler that keeps its own state between requests; absent for other handlers. */
    own: Schema.optionalKey(Schema.Unknown),
  })
}
type State = ReturnType<typeof makeState>["Type"]

/** The opened state and the answers that a client sent with it. */
export interface Resumed {
  readonly state: State
  /** Answers to the questions in the last response, of any shape. */
  readonly responses: Members
}

/** Seals the state of a call with pending questions, and opens the state that a client sends back. */
export interface RequestStates {
  /** True for a call that brings a state, valid or not. */
  readonly isResumed: (call: Call) => boolean
  /** Opens the state of a call. Fails with invalid params if it is malformed, expired or not of this call. */
  readonly open: (call: Call) => Effect.Effect<Resumed, JsonRpcError>
  /** Seals a state for one hour. Fails if its JSON is longer than `maxLength`. */
  readonly seal: (
    call: Call,
    state: Omit<State, "expiresAt">,
  ) => Effect.Effect<string, JsonRpcError>
  /**
   * Runs a call that brought a state. Fails at once if another run with the same state is in progress or has completed
   * the call. A run that is interrupted, dies or asks again releases the state for another run.
   */
  readonly using: <A, E>(call: Call, run: Effect.Effect<A, E>) => Effect.Effect<A, E | JsonRpcError>
}

/** The parts of a call that a state is bound to. */
export interface Call {
  readonly method: string
  /** The params as received. */
  readonly params: unknown
  readonly principal: string
}

/** One hour: a person who was interrupted has time to return to the question. */
const timeToLiveMs = Duration.toMillis("1 hour")

/**
 * Largest number of used states remembered: more than are used within an hour. The oldest are forgotten first, and a
 * forgotten state could be used again until it expires.
 */
const maxUsed = 8192

/** Largest state, in UTF-16 units of its JSON. The state is transferred in both directions with every request of the call. */
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

/** Members of the params that differ between the requests of a call, so a state is not bound to them. */
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

/** The answers that a call brings, of any shape. Empty if `inputResponses` is absent or not an object. */
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

/**
 * True for a run that completed the call with a result or an error; false if it was interrupted, died or asks again.
 */
const isAnswer = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isSuccess(exit)
    ? !(exit.value instanceof OtherResult && exit.value.resultType === inputRequired)
    : exit.cause.reasons.some(Cause.isFailReason)

/** The states that have completed a call or are in use by a running one. */
const used = () => {
  const ends = new Set<string>()
  // The end identifies a sealed text, because no two have the same end; the whole text may be long.
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

/** The state of a call that brings one, and the answers in the call to the questions of that state. */
const opened = Effect.fnUntraced(function* (
  sealer: Sealer["Service"],
  call: Call,
): Effect.fn.Return<Resumed, JsonRpcError> {
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

/**
 * Creates the request states of a server.
 *
 * @param sealer seals the states, and opens those that it sealed
 */
export const make = (sealer: Sealer["Service"]): RequestStates => {
  const book = used()

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

  return { isResumed, open: (call) => opened(sealer, call), seal, using }
}

/** The request states of one server: a state that was used on one connection counts as used on every connection. */
export const requestStates: SharedState<RequestStates> = {
  make: ({ sealer }) => Effect.sync(() => make(sealer)),
}
