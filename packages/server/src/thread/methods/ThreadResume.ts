/** `thread/resume`: subscribes to a thread, loads it if necessary, and applies the settings that are given. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { ThreadSettingsUpdated, ThreadStatusChanged } from "@colloquy/protocol/thread/Notifications"
import type { ThreadResume } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { invalid } from "../../app/AppErrors.ts"
import type { ConversationsView } from "../../ConversationsView.ts"
import { removeOnFailure } from "../../RemoveOnFailure.ts"
import { createThread, tellAll, tellUsage } from "../CreatedThread.ts"
import { startSettings } from "../ThreadOverrides.ts"
import { overrideThread } from "../OverrideThread.ts"
import {
  describe,
  findAt,
  historyOf,
  stateOf,
  type ThreadCall,
  type ThreadHandler,
} from "../ThreadCall.ts"
import { badSessionId, cannotAttach } from "../ThreadErrors.ts"
import { type ThreadHistory, viewed } from "../ThreadHistory.ts"
import { collaborationOf, settingsOf, withSettings } from "../ThreadObjects.ts"
import { newestOf, pageOf } from "../ThreadPages.ts"

type ResumeParams = Params<typeof ThreadResume>

const decodeHistory = Schema.decodeUnknownResult(Schema.Array(ResponseItem))

/** A new thread with the history that the client has kept. */
const imported = Effect.fnUntraced(function* (
  given: ReadonlyArray<unknown>,
  params: ResumeParams,
): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView | SettingsResolver> {
  if (given.length === 0) return yield* invalid("history must not be empty")
  const history = decodeHistory(given)
  if (Result.isFailure(history)) {
    return yield* invalid(
      `history: expected items of a model's history: ${history.failure.message}`,
    )
  }
  return yield* createThread({ ...(yield* startSettings(params)), history: history.success })
})

/** The thread with the settings that are given. Those that follow a thread which had others are notified. */
const resumed = Effect.fnUntraced(function* (
  params: ResumeParams,
  { connection: { member, registry } }: ThreadCall,
): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView | SettingsResolver> {
  if (params.history != null) return yield* imported(params.history, params)
  const conversation = yield* findAt(params, badSessionId)
  const shown = Effect.map(stateOf(conversation), ({ settings }) => settingsOf(settings))
  const before = yield* shown
  yield* overrideThread(conversation, params)
  const threadSettings = yield* shown
  if (JSON.stringify(threadSettings) !== JSON.stringify(before)) {
    const notification = { threadId: conversation.id, threadSettings }
    registry.announceToFollowers(conversation.id, ThreadSettingsUpdated, notification, member)
  }
  return conversation
})

/** The page of turns that is asked for; null for none. */
const initialPage = ({ turns }: ThreadHistory, { initialTurnsPage: page }: ResumeParams) => {
  if (page == null) return Effect.succeed(null)
  const view = page.itemsView ?? "summary"
  return pageOf(
    turns.map((turn) => viewed(turn, view)),
    { ...page, sortDirection: page.sortDirection ?? "desc" },
    (turn) => turn.id,
  )
}

/** Subscribes to the thread and describes it. */
const answer = Effect.fnUntraced(function* (
  conversation: Conversation,
  params: ResumeParams,
  call: ThreadCall,
): Effect.fn.Return<ResultOf<typeof ThreadResume>, JsonRpcError, ConversationsView> {
  const { connection } = call
  const { id } = conversation
  const wasLoaded = connection.registry.isLoaded(id)
  connection.registry.loaded(id)
  const state = yield* stateOf(conversation)
  const history = yield* historyOf(id, call)
  if (params.excludeTurns !== true) yield* connection.roomForLargeResult(call)
  const turns = params.excludeTurns === true ? [] : history.turns
  const thread = yield* describe(id, { history, state, turns }, call)
  const { status } = history.fold
  const first = Effect.andThen(
    wasLoaded ? Effect.void : tellAll(call, ThreadStatusChanged, { threadId: id, status }),
    params.excludeTurns === true ? Effect.void : tellUsage(call, id, history),
  )
  const initialTurnsPage = yield* initialPage(history, params)
  const sent = [...turns, ...(initialTurnsPage?.data ?? [])]
  const hasTurn = sent.some((one) => one.id === history.fold.turnId && one.itemsView === "full")
  const subscribing = connection.subscribe({ conversation, hasTurn, history }, call, first)
  yield* Effect.mapError(subscribing, cannotAttach)
  return {
    ...withSettings(thread, state.settings),
    collaborationMode: collaborationOf(state.settings),
    initialTurnsPage,
    ...newestOf(history),
  }
})

/** Handler of the method. */
export const threadResume: ThreadHandler<typeof ThreadResume> = Effect.fnUntraced(
  function* (params, call) {
    const conversation = yield* resumed(params, call)
    const answering = answer(conversation, params, call)
    return yield* params.history == null ? answering : removeOnFailure(conversation.id)(answering)
  },
)
