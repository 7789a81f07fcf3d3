/**
 * Runs a request of the stateless era (the revisions without `initialize`). Each request declares its client and
 * revision. A question ends the run of the handler; the client calls again with the answers, and the handler runs
 * again. Nothing is kept on the connection between requests: the state of a call is sealed and carried by the client.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { StatelessErrorCode } from "@colloquy/protocol/mcp/Revisions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import type { PeerControl, RequestCaller } from "../../jsonrpc/Caller.ts"
import {
  type CoreHandler,
  type InputRequest,
  InputRequired,
  type InputResponse,
  type Members,
  OtherResult,
  type RequestContext,
} from "../RequestContext.ts"
import { readResponse } from "./AnswerShapes.ts"
import { missingIn, neededFor } from "./Capabilities.ts"
import type { RequestMeta } from "./RequestMeta.ts"
import {
  type Call,
  inputRequired,
  type RequestStates,
  responsesOf,
  type Resumed,
} from "./RequestState.ts"
import { logTo, progressTo, reporting } from "./RequestNotifications.ts"

const lacking = (missing: Members) =>
  new JsonRpcError({
    code: StatelessErrorCode.missingClientCapability,
    message: `the request needs client capabilities that it does not declare: ${Object.keys(missing).join(", ")}`,
    data: { requiredCapabilities: missing },
  })

/** The answers and the results of `once` from the earlier requests of a call. One run of a handler adds its own. */
interface RunState {
  readonly answers: Record<string, unknown>
  readonly done: Record<string, unknown>
}

const contextOf = (
  { caller, peer: requestPeer, principal, declared }: StatelessRequest,
  resumed: Resumed | undefined,
  responses: Members,
  state: RunState,
): RequestContext => {
  const peer = reporting(caller, requestPeer, declared.meta)
  const requires: RequestContext["requires"] = (capabilities) => {
    const missing = missingIn(declared.client.capabilities, capabilities)
    return missing === undefined ? Effect.void : Effect.fail(lacking(missing))
  }

  const answerTo = (key: string, question: InputRequest): InputResponse | undefined => {
    const known = Object.hasOwn(state.answers, key) ? state.answers[key] : memberOf(responses, key)
    const answer = readResponse(question, known)
    if (answer !== undefined) state.answers[key] = answer
    return answer
  }

  const ask: RequestContext["ask"] = <K extends string>(
    questions: Readonly<Record<K, InputRequest>>,
  ) =>
    Effect.gen(function* () {
      const answers: Partial<Record<string, InputResponse>> = {}
      const inputRequests: Record<string, InputRequest> = {}
      for (const [key, question] of Object.entries<InputRequest>(questions)) {
        yield* requires(neededFor(question))
        const answer = answerTo(key, question)
        if (answer === undefined) inputRequests[key] = question
        else answers[key] = answer
      }
      if (Object.keys(inputRequests).length > 0) return yield* new InputRequired({ inputRequests })
      return answers as Readonly<Record<K, InputResponse>>
    })

  const once: RequestContext["once"] = <A, E, R>(key: string, effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() =>
      Object.hasOwn(state.done, key)
        ? Effect.succeed(state.done[key] as A)
        : Effect.tap(effect, (result) =>
            Effect.sync(() => {
              state.done[key] = result
            }),
          ),
    )

  return {
    era: "stateless",
    revision: declared.revision,
    client: declared.client,
    principal,
    requestId: caller.requestId,
    meta: declared.meta,
    peer,
    notify: peer.notify,
    afterAnswer: caller.afterAnswer,
    progress: progressTo(peer, declared.meta),
    logLevel: () => declared.logLevel,
    log: logTo(peer, () => declared.logLevel),
    ask,
    requires,
    once,
    continuation: {
      resumed:
        resumed === undefined
          ? undefined
          : { state: resumed.state.own, responses: resumed.responses },
    },
  }
}

/** A peer whose `request` always fails: the stateless era has no requests from the server to the client. */
export const withoutRequests = (peer: PeerControl): PeerControl => ({
  ...peer,
  request: () =>
    Effect.fail(
      new JsonRpcError({
        code: ErrorCode.internalError,
        message: "this revision of the protocol has no requests of the server",
      }),
    ),
})

/** One request of the stateless era, with what it declares. */
export interface StatelessRequest {
  readonly declared: RequestMeta
  readonly principal: string
  readonly caller: RequestCaller
  readonly peer: PeerControl
  readonly states: RequestStates
  /** Cancels the work that a handler's own state refers to, when that state could not be sent to the client. */
  readonly cancelWork: (state: unknown) => Effect.Effect<void>
  /** The call, for a method that may ask the client; absent for other methods. */
  readonly call?: Call
}

/** Runs the handler for one request. A question ends the run, and the result asks it with the sealed state. */
export const stateless = <P, R>(
  handler: CoreHandler<P, R>,
  params: P,
  request: StatelessRequest,
): Effect.Effect<R | OtherResult, JsonRpcError> => {
  const { call, states, cancelWork } = request
  const run = (resumed: Resumed | undefined) => {
    // A client that knows the questions in advance may send the answers with its first call.
    const responses = resumed?.responses ?? (call === undefined ? {} : responsesOf(call))
    const runState: RunState = {
      answers: { ...resumed?.state.answers },
      done: { ...resumed?.state.done },
    }
    const put = (asked: InputRequired) => {
      if (call === undefined) return Effect.die(asked)
      const { inputRequests, state } = asked
      const own = state === undefined ? {} : { own: state }
      const sealed = states.seal(call, { asked: Object.keys(inputRequests), ...runState, ...own })
      return Effect.map(
        state === undefined ? sealed : Effect.onInterrupt(sealed, () => cancelWork(state)),
        (requestState) =>
          new OtherResult({
            resultType: inputRequired,
            members: { inputRequests, requestState },
          }),
      )
    }
    return Effect.catchTag(
      handler(params, contextOf(request, resumed, responses, runState)),
      "InputRequired",
      put,
    )
  }

  if (call === undefined || !states.isResumed(call)) return run(undefined)
  return Effect.flatMap(states.open(call), (resumed) =>
    // A handler that keeps its own state detects by itself a state that is sent twice.
    resumed.state.own === undefined ? states.using(call, run(resumed)) : run(resumed),
  )
}
